/** Role, database and server in Tokyo, and a worker in New York whose clock is five hours ahead: nothing shifts. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue, findJob } from '@fencepost/queue';
import { migrateDeploy, startEmbeddedPostgres, waitFor, type EmbeddedPostgres } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testContracts } from './fixtures/contracts.ts';
import { openJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker, type WorkerProcess } from './fixtures/spawn-worker.ts';

const contracts = { lease: '2s', maxAttempts: 2 } as const;
const types = testContracts(contracts);
const SHIFTED_CLOCK = {
  NODE_OPTIONS: `--import=${new URL('./fixtures/shift-clock.mjs', import.meta.url).href}`,
  TZ: 'America/New_York',
};

let server: EmbeddedPostgres;
let table: JobTable;
let prisma: PrismaClient;

beforeAll(async () => {
  server = await startEmbeddedPostgres({ settings: { timezone: 'Asia/Tokyo' } });
  await migrateDeploy(server.url);
  table = await openJobTable(server.url);
  await table.query(`ALTER ROLE postgres SET timezone = 'Asia/Tokyo'`);
  await table.query(`ALTER DATABASE postgres SET timezone = 'Asia/Tokyo'`);
  prisma = createPrisma(server.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
  await server.stop();
});

async function start(): Promise<WorkerProcess> {
  const worker = await spawnWorker({ url: server.url, contracts }, SHIFTED_CLOCK);
  // The clock is as wrong as it was meant to be.
  const [line] = worker.said('worker started');
  expect(Date.parse(String(line?.['time'])) - Date.now()).toBeGreaterThan(4 * 3_600_000);
  return worker;
}

/** How far from now, by the database's clock; only the difference counts, whatever zone a session is in. */
async function msFromNow(column: string, id: string): Promise<number> {
  const [row] = await table.query<{ ms: number }>(
    `SELECT (extract(epoch FROM ${column} - clock_timestamp()) * 1000)::float8 AS ms FROM job_queue WHERE id = $1`,
    [id],
  );
  return row?.ms ?? Number.NaN;
}

test('delays, leases, retries and times of day are those of the database', async () => {
  const worker = await start();
  const now = await enqueue(prisma, types.effect, {});
  const delayed = await enqueue(prisma, types.effect, {}, { delay: '3s' });
  const runAt = new Date(Date.now() + 3_000);
  const dated = await enqueue(prisma, types.effect, {}, { runAt });
  const created = await prisma.jobQueue.create({ data: { type: 'test.effect', runAt } });
  const far = await enqueue(prisma, types.effect, {}, { delay: '2h' });
  const long = await enqueue(prisma, types.sleeper, { ms: 6_000 });
  const failing = await enqueue(prisma, types.failing, {});

  // Stored as meant.
  expect(await msFromNow('"runAt"', far.id)).toBeGreaterThan(2 * 3_600_000 - 60_000);
  expect(await msFromNow('"runAt"', far.id)).toBeLessThanOrEqual(2 * 3_600_000);
  expect((await findJob(prisma, dated.id))?.runAt).toEqual(runAt);
  expect(Math.abs((await msFromNow('"runAt"', created.id)) - (runAt.getTime() - Date.now()))).toBeLessThan(
    5_000,
  );

  const isOver = async (id: string) => ['completed', 'dead'].includes((await table.row(id)).state);
  for (const { id } of [now, delayed, dated, created, long, failing])
    await waitFor(() => isOver(id), { timeout: 30_000 });

  for (const { id } of [now, delayed, dated, created]) {
    const { claimedAt, runAt: dueAt } = await table.row(id);
    expect(Number(claimedAt) - Number(dueAt)).toBeGreaterThanOrEqual(0);
    expect(Number(claimedAt) - Number(dueAt)).toBeLessThan(2_500);
  }
  // Three leases long, and one claim.
  expect(await table.row(long.id)).toMatchObject({ state: 'completed', attempts: 1, claims: 1, crashes: 0 });
  expect(await table.row(far.id)).toMatchObject({ state: 'pending', claims: 0 });
  const { state, errors } = await table.row(failing.id);
  expect({ state, attempts: errors.map(({ attempt }) => attempt) }).toEqual({
    state: 'dead',
    attempts: [1, 2],
  });

  for (const { id } of [now, long, failing]) {
    for (const column of ['"createdAt"', '"claimedAt"', '"updatedAt"', '"finishedAt"']) {
      expect(Math.abs(await msFromNow(column, id))).toBeLessThan(60_000);
    }
  }
  expect(Math.abs(await msFromNow(`("errors" -> 0 ->> 'at')::timestamptz`, failing.id))).toBeLessThan(60_000);

  // What a handler is told is what the row says.
  const began = worker.said('run began').find((line) => line['id'] === long.id);
  expect(Date.parse(String(began?.['claimedAt']))).toBe(Number((await table.row(long.id)).claimedAt));
});

test('a lease is over when the database says so, not when the clock of a worker does', async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
  const victim = await start();
  const { id } = await enqueue(prisma, types.sleeper, { ms: 60_000 });
  await victim.waitForLine((line) => line['msg'] === 'run began');
  await start();
  // Five hours ahead, the other one sweeps twice a second, and lets it be.
  const { lockUntil } = await table.row(id);
  await waitFor(async () => Number((await table.row(id)).lockUntil) > Number(lockUntil) + 1_500);
  expect(await table.row(id)).toMatchObject({ state: 'running', claims: 1 });
  await table.query(`UPDATE job_queue SET payload = '{"ms": 1}' WHERE id = $1`, [id]);
  victim.signal('SIGKILL');
  await waitFor(async () => (await table.row(id)).state === 'completed', { timeout: 30_000 });
  expect(await table.row(id)).toMatchObject({ claims: 2, crashes: 1 });
});
