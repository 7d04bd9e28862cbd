/**
 * A transaction that stays open keeps vacuum from removing the entries of jobs that have passed since. A claim from the
 * beginning passes them all; from the heads of the queue it costs what it would without them, and misses no job that it
 * has to see.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { QueueClient } from '../src/client.ts';
import { afterClaim, claimJobs, findHeads, findVacuumHolder, type Heads } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { newContract, only, wantedOf } from './fixtures/jobs.ts';
import { buffersOf, explaining } from './fixtures/plans.ts';

const database = await openDatabase();
const { prisma, connect } = database;
const admin = await connect();
const holder = await connect();

const PASSED = 20_000;
const quiet = newContract();
const passed = newContract();
/** All of them enqueued by one transaction, so that their times are the same. */
const bulk = newContract();

const claim = (client: QueueClient, type: typeof quiet, capacity: number, from?: Heads) =>
  claimJobs(client, { workerId: 'w', wanted: [wantedOf(type)], capacity, from });

beforeAll(async () => {
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT FROM job_queue');
  await admin.query(
    `INSERT INTO job_queue (type, "runAt")
     SELECT $1, now() - interval '2 hours' + i * interval '1 ms' FROM generate_series(1, $4) AS i
     UNION ALL
     SELECT type, now() - interval '1 hour' + i * interval '1 ms'
     FROM generate_series(1, 2000) AS i, unnest(ARRAY[$1, $2]) AS type
     UNION ALL
     SELECT $3, now() - interval '1 hour' FROM generate_series(1, $4 + 2000)`,
    [passed.type, quiet.type, bulk.type, PASSED],
  );
  for (const { type } of [passed, bulk]) {
    await admin.query(
      `UPDATE job_queue SET state = 'completed', "finishedAt" = now()
       WHERE id IN (SELECT id FROM job_queue WHERE type = $1 ORDER BY "runAt", id LIMIT $2)`,
      [type, PASSED],
    );
  }
  await admin.query('VACUUM ANALYZE job_queue');
}, 60_000);

test.each([1, 500])(
  'a claim of %d from the heads reads what it would without dead entries',
  async (count) => {
    const { client, plans } = await explaining(database, 'force_custom_plan', { run: false });
    const buffers = async (contract: typeof quiet, from?: Heads) => {
      await claim(client, contract, count, from);
      return buffersOf(only(plans()));
    };
    const without = await buffers(quiet);
    for (const contract of [passed, bulk]) {
      const { heads } = await findHeads(prisma, [contract.type]);
      expect(await buffers(contract, heads)).toBeLessThanOrEqual(3 * without);
      // Or there were no dead entries to pass.
      expect(await buffers(contract)).toBeGreaterThan(without + 0.02 * PASSED);
    }
  },
);

test('what a claim leaves behind, the next one does not pass again', async () => {
  const { client, plans } = await explaining(database, 'force_custom_plan');
  let { heads } = await findHeads(prisma, [passed.type]);
  const jobs = await claim(prisma, passed, 1_000, heads);
  heads = afterClaim(heads, jobs);
  expect(await claim(client, passed, 1, heads)).toHaveLength(1);
  const afterAnother = buffersOf(only(plans()));
  expect(await claim(client, quiet, 1)).toHaveLength(1);
  expect(afterAnother).toBeLessThanOrEqual(3 * buffersOf(only(plans())));
});

test('a look from the heads finds the next due job without passing dead entries', async () => {
  const { client, plans } = await explaining(database, 'force_custom_plan');
  const found = await findHeads(client, [passed.type]);
  expect(found.passed).toBeGreaterThanOrEqual(PASSED);
  const again = await findHeads(client, [passed.type], found.heads);
  expect(again.passed).toBeLessThan(10);
  expect((await findHeads(prisma, [quiet.type])).passed).toBeLessThan(10);
  const [fromBeginning, fromHeads] = plans().map(buffersOf);
  expect(fromHeads).toBeLessThan(50);
  expect(fromBeginning).toBeGreaterThan(0.01 * PASSED);
});

test('what holds back vacuum is found', async () => {
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { pid, kind, name, user, state, openMs } = (await findVacuumHolder(prisma))!;
  expect({ pid, kind, name, user, state }).toEqual({
    pid: only(rows).pid,
    kind: 'session',
    name: 'test',
    user: decodeURIComponent(new URL(database.url).username),
    state: 'idle in transaction',
  });
  expect(openMs).toBeGreaterThan(0);
});

describe('a claim from the heads', () => {
  const types = [newContract(), newContract(), newContract()].map(({ type }) => type);
  const wanted = types.map((type) => ({ ...wantedOf(quiet), type }));
  const claimFrom = (from: Heads, capacity: number) =>
    claimJobs(prisma, { workerId: 'w', wanted, capacity, from });

  /** Due jobs before the heads, which no claim from there would ever see. */
  async function missed(heads: Heads): Promise<number> {
    const ranges = [...heads].flatMap(([type, ofType]) =>
      ofType.map((head, priority) => ({ type, priority, ...head })),
    );
    const { rows } = await admin.query<{ count: number }>(
      `SELECT count(*)::int AS count
       FROM job_queue AS job
       JOIN jsonb_to_recordset($1) AS head(type text, priority int, "runAt" timestamptz, id uuid)
         USING (type, priority)
       WHERE job.state = 'pending' AND (job."runAt", job.id) < (head."runAt", head.id)`,
      [JSON.stringify(ranges)],
    );
    return only(rows).count;
  }

  const insert = (sql: string) =>
    admin.query(`INSERT INTO job_queue (type, priority, "runAt") SELECT ${sql}`, [types]);

  test('leaves no job before the heads that it leads to, until every one is claimed', async () => {
    await insert(`($1::text[])[1 + i % 3], i / 3 % 4, now() - (i * 7919 % 500) * interval '1 s'
                  FROM generate_series(1, 500) AS i`);
    let { heads } = await findHeads(prisma, types);
    const seen = new Set<string>();
    for (let n = 1; seen.size < 500; n++) {
      const jobs = await claimFrom(heads, 1 + (n % 40));
      expect(jobs.length).toBeGreaterThan(0);
      for (const { id } of jobs) seen.add(id);
      heads = afterClaim(heads, jobs);
      expect(await missed(heads)).toBe(0);
    }
    expect(await claimFrom(heads, 10)).toEqual([]);
  });

  test('sees what is enqueued after the heads were found, also where there was nothing, or only jobs for later', async () => {
    await insert(`($1::text[])[2], 1, now() + interval '1 hour'`);
    const { heads } = await findHeads(prisma, types);
    await insert(`($1::text[])[2], level, now() FROM generate_series(0, 3) AS level`);
    expect(await claimFrom(heads, 10)).toHaveLength(4);
  });

  test('sees what was enqueued before by a transaction that was in flight then', async () => {
    const found = await findHeads(prisma, types);
    const { rows } = await admin.query<{ isEarlier: boolean }>(
      `SELECT $1::timestamptz <= now() - interval '200 ms' AS "isEarlier"`,
      [found.heads.get(types[1]!)?.[1]?.runAt],
    );
    expect(rows).toEqual([{ isEarlier: true }]);

    await insert(`($1::text[])[1], 3, now()`);
    const jobs = await claimFrom(found.heads, 10);
    const heads = afterClaim(found.heads, jobs);
    await admin.query(
      `INSERT INTO job_queue (type, "runAt") VALUES ($1, $2::timestamptz - interval '199 ms')`,
      [types[0], only(jobs).claimedAt],
    );
    expect(await claimFrom(heads, 10)).toHaveLength(1);
  });

  test('does not see what comes to be long before them, and the next look from the beginning does', async () => {
    const { heads } = await findHeads(prisma, types);
    await insert(`($1::text[])[1], 2, now() - interval '1 minute'`);
    expect(await claimFrom(heads, 10)).toEqual([]);
    const again = await findHeads(prisma, types);
    expect(again.dueInMs).toBeLessThan(0);
    expect(await claimFrom(again.heads, 10)).toHaveLength(1);
  });

  test('looks from the beginning for a type that the heads do not know', async () => {
    const { heads } = await findHeads(prisma, types.slice(1));
    await insert(`($1::text[])[1], 2, now() - interval '1 minute'`);
    expect(await claimFrom(heads, 10)).toHaveLength(1);
  });
});
