/**
 * Server, role and database in Asia/Tokyo, nine hours ahead: nothing shifts. Neither does it where the session itself is
 * in Tokyo, since no statement of the queue depends on it.
 */
import { createPgClient, createPrisma } from '@fencepost/db';
import { migrateDeploy, startEmbeddedPostgres } from '@fencepost/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { cancel, enqueue, findJob, listJobs, readBacklog } from '../src/index.ts';
import { deleteFinished, findHeads, reclaimJobs, renewLeases, settleRuns } from '../src/protocol.ts';
import { claimOf, endLease, failed, fenceOf, newClaim, newContract, only } from './fixtures/jobs.ts';

const server = await startEmbeddedPostgres({ settings: { timezone: 'Asia/Tokyo' } });
await migrateDeploy(server.url);
const admin = createPgClient(server.url, { applicationName: 'test', onError: () => {} });
await admin.connect();
await admin.query("ALTER ROLE postgres SET timezone = 'Asia/Tokyo'");
await admin.query("ALTER DATABASE postgres SET timezone = 'Asia/Tokyo'");

const asCreated = createPrisma(server.url, { poolSize: 2 });
const inTokyo = createPrisma(server.url, { poolSize: 1 });
await inTokyo.$executeRaw`SET TimeZone = 'Asia/Tokyo'`;

afterAll(async () => {
  await asCreated.$disconnect();
  await inTokyo.$disconnect();
  await admin.end();
  await server.stop();
});

/** Milliseconds since 1970 as the server has them. */
async function epochs(
  id: string,
): Promise<Record<'runAt' | 'createdAt' | 'lockUntil' | 'finishedAt', number>> {
  const { rows } = await admin.query<Record<string, number>>(
    `SELECT ${['runAt', 'createdAt', 'lockUntil', 'finishedAt']
      .map((column) => `(extract(epoch FROM "${column}") * 1000)::float8 AS "${column}"`)
      .join(', ')}
     FROM job_queue WHERE id = $1`,
    [id],
  );
  return rows[0] as Awaited<ReturnType<typeof epochs>>;
}

const serverNow = async () =>
  only((await admin.query<{ ms: number }>('SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms')).rows)
    .ms;

const MINUTE = 60_000;

test('a plain session of this server is in Tokyo', async () => {
  const { rows } = await admin.query(
    "SELECT setting, reset_val, boot_val FROM pg_settings WHERE name = 'TimeZone'",
  );
  const roles = await admin.query('SELECT setconfig::text FROM pg_db_role_setting');
  expect(roles.rows).toHaveLength(2);
  expect(rows).toHaveLength(1);
  const [session] = await inTokyo.$queryRaw<{ zone: string }[]>`SELECT current_setting('TimeZone') AS "zone"`;
  expect(session?.zone).toBe('Asia/Tokyo');
});

describe.each([
  ['a client as createPrisma makes it', asCreated],
  ['a session in Tokyo', inTokyo],
])('%s', (_, prisma) => {
  test('enqueues for the instant that was named', async () => {
    const runAt = new Date('2031-07-01T12:34:56.789Z');
    const { id } = await enqueue(prisma, newContract(), 1, { runAt });
    expect((await epochs(id)).runAt).toBe(runAt.getTime());
    expect((await findJob(prisma, id))?.runAt).toEqual(runAt);
  });

  test('enqueues for after a delay, and knows how long that is', async () => {
    const contract = newContract();
    const { id } = await enqueue(prisma, contract, 1, { delay: '10m' });
    expect(Math.abs((await epochs(id)).runAt - (await serverNow()) - 10 * MINUTE)).toBeLessThan(MINUTE);
    const inMs = (await findHeads(prisma, [contract.type])).dueInMs ?? Number.NaN;
    expect(Math.abs(inMs - 10 * MINUTE)).toBeLessThan(MINUTE);
    expect(await claimOf(prisma, contract)).toEqual([]);
  });

  test('claims with a lease of its length, renews it, and the sweep leaves it alone', async () => {
    const job = await newClaim(prisma, newContract({ lease: '30s' }));
    const claimed = await epochs(job.id);
    expect(Math.abs(claimed.lockUntil - (await serverNow()) - 30_000)).toBeLessThan(20_000);
    expect(new Date(job.runAt).getTime()).toBe(Math.floor(claimed.runAt));
    expect(new Date(job.createdAt).getTime()).toBe(Math.floor(claimed.createdAt));
    expect(job.waitedMs).toBeLessThan(MINUTE);
    expect(await reclaimJobs(prisma, 100)).toEqual([]);
    await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 10 * MINUTE }]);
    expect(Math.abs((await epochs(job.id)).lockUntil - (await serverNow()) - 10 * MINUTE)).toBeLessThan(
      MINUTE,
    );
    await endLease(prisma, [job.id]);
    expect((await reclaimJobs(prisma, 100)).map(({ id }) => id)).toContain(job.id);
  });

  test('fails an attempt now, and retries it when its delay is over', async () => {
    const job = await newClaim(prisma, newContract({ retry: { base: '10m', max: '10m' } }));
    await settleRuns(prisma, [failed(job)]);
    const now = await serverNow();
    const delay = (await epochs(job.id)).runAt - now;
    expect(delay).toBeGreaterThan(4 * MINUTE);
    expect(delay).toBeLessThan(11 * MINUTE);
    const error = only((await findJob(prisma, job.id))?.errors ?? []);
    expect(error.at).toMatch(/Z$/);
    expect(Math.abs(new Date(error.at).getTime() - now)).toBeLessThan(MINUTE);
  });

  test('shows every time as it is', async () => {
    const contract = newContract();
    const { id } = await enqueue(prisma, contract, 1);
    await cancel(prisma, id);
    const stored = await epochs(id);
    const job = only(await listJobs(prisma, { type: contract.type }));
    expect(job.runAt.getTime()).toBe(Math.floor(stored.runAt));
    expect(job.createdAt.getTime()).toBe(Math.floor(stored.createdAt));
    expect(job.finishedAt?.getTime()).toBe(Math.floor(stored.finishedAt));
    expect(Math.abs(job.createdAt.getTime() - (await serverNow()))).toBeLessThan(MINUTE);
  });

  test('cleans up by age, and tells how long jobs have waited', async () => {
    const contract = newContract();
    const { id } = await enqueue(prisma, contract, 1);
    await enqueue(prisma, contract, 1);
    const backlog = (await readBacklog(prisma)).find(({ type }) => type === contract.type);
    expect(backlog).toMatchObject({ due: 2, scheduled: 0 });
    expect(backlog?.oldestDueMs).toBeLessThan(MINUTE);
    await cancel(prisma, id);
    await deleteFinished(prisma, 10 * MINUTE, 1_000);
    expect(await findJob(prisma, id)).toBeDefined();
  });
});
