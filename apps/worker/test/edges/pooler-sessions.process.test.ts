/** What clients of a transaction pooler, who take turns on the same sessions of the server, do to each other: nothing. */
import { createPgClient, createPrisma, type PrismaClient } from '@fencepost/db';
import { cancel, enqueue } from '@fencepost/queue';
import { claimJobs, settleRuns } from '@fencepost/queue/protocol';
import { databaseFault } from '@fencepost/service';
import { startPgBouncer, waitFor, type PgBouncer } from '@fencepost/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testContracts } from '../fixtures/contracts.ts';
import { createJobTable, type JobTable } from '../fixtures/job-table.ts';
import { pgBouncerIsMissing } from './pgbouncer-here.ts';

const { sleeper } = testContracts();
const ROUNDS = 20;

describe.skipIf(pgBouncerIsMissing)('on the sessions of a transaction pooler', () => {
  let table: JobTable;
  let pooler: PgBouncer;
  let prisma: PrismaClient;
  beforeAll(async () => {
    table = await createJobTable();
    const database = new URL(table.url).pathname.slice(1);
    await table.query(`ALTER DATABASE ${database} SET timezone = 'Asia/Tokyo'`);
    pooler = await startPgBouncer({ url: table.url, poolSize: 2 });
    prisma = createPrisma(pooler.url, { poolSize: 4 });
  });
  afterAll(async () => {
    await prisma?.$disconnect();
    await table?.close();
  });

  async function connect() {
    const client = createPgClient(pooler.url, { applicationName: 'beside', onError: () => {} });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  test('everybody keeps the time zone that they asked for', async () => {
    const beside = await connect();
    await beside.query(`SET TimeZone = 'America/New_York'`);
    const runAt = new Date('2030-01-01T00:00:00Z');
    const ours = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const made = await prisma.jobQueue.create({ data: { type: 'test.zone', runAt } });
        expect(made.runAt).toEqual(runAt);
      }
    };
    const theirs = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { rows } = await beside.query<{ TimeZone: string }>('SHOW TimeZone');
        expect(rows).toEqual([{ TimeZone: 'America/New_York' }]);
      }
    };
    await Promise.all([ours(), ours(), theirs()]);
    expect(
      await table.query(`SELECT DISTINCT extract(epoch FROM "runAt")::bigint AS at FROM job_queue`),
    ).toEqual([{ at: String(runAt.getTime() / 1_000) }]);
  });

  test('the queue leaves nothing behind: no statement, lock, channel, table or setting', async () => {
    await table.query('TRUNCATE job_queue');
    const wanted = [{ ...sleeper, slots: 10 }];
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await prisma.$transaction((tx) => enqueue(tx, sleeper, { ms: round }));
      const claimed = await claimJobs(prisma, { workerId: 'pooled', wanted, capacity: 10 });
      const settlement = { settle: 'complete', result: null } as const;
      await settleRuns(
        prisma,
        claimed.map((job) => ({ ...job, settlement, completing: false })),
      );
      await cancel(prisma, id);
    }
    // Two transactions at once have both of the sessions.
    const clients = await Promise.all([connect(), connect()]);
    for (const client of clients) await client.query('BEGIN');
    const left = await Promise.all(clients.map((client) => client.query(LEFT_BEHIND)));
    const [one, other] = left.map(({ rows }) => rows[0] as { pid: number });
    expect(one!.pid).not.toBe(other!.pid);
    const nothing = { statements: 0, locks: 0, channels: 0, temporary: 0, settings: [] };
    expect([one, other]).toEqual([
      { ...nothing, pid: expect.any(Number) as number },
      { ...nothing, pid: expect.any(Number) as number },
    ]);
  });

  test('nor does a pool that would keep its plans, whatever its URL says of the pooler', async () => {
    const url = new URL(pooler.url);
    for (const pgbouncer of ['true', 'false']) {
      url.searchParams.set('pgbouncer', pgbouncer);
      const keeping = createPrisma(url.href, { poolSize: 2, fixedPlans: true });
      onTestFinished(() => keeping.$disconnect());
      await Promise.allSettled([keeping.$queryRaw`SELECT 1`, keeping.$queryRaw`SELECT 2`]);
    }
    const clients = await Promise.all([connect(), connect()]);
    for (const client of clients) await client.query('BEGIN');
    const modes = await Promise.all(
      clients.map((client) => client.query<{ plan_cache_mode: string }>('SHOW plan_cache_mode')),
    );
    expect(modes.map(({ rows }) => rows)).toEqual([
      [{ plan_cache_mode: 'auto' }],
      [{ plan_cache_mode: 'auto' }],
    ]);
  });

  test('a URL that does not say so fails by a fault that says what it lacks', async () => {
    const url = new URL(pooler.url);
    url.searchParams.delete('pgbouncer');
    const unaware = createPrisma(url.href, { poolSize: 3 });
    onTestFinished(() => unaware.$disconnect());
    const fault = await waitFor(async () => {
      const looks = Array.from({ length: 9 }, () => unaware.jobQueue.count());
      const [failed] = (await Promise.allSettled(looks)).filter(({ status }) => status === 'rejected');
      return failed && databaseFault((failed as PromiseRejectedResult).reason);
    });
    expect(fault).toMatchObject({ name: 'transaction_pooler' });
  });
});

/** The settings that PgBouncer keeps apart for each client are its own affair. */
const LEFT_BEHIND = `
  SELECT
    pg_backend_pid() AS pid,
    (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
    (SELECT count(*)::int FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') AS locks,
    (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
    pg_my_temp_schema()::int AS temporary,
    ARRAY(
      SELECT name
      FROM pg_settings
      WHERE source = 'session'
        AND name NOT IN (
          'application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone'
        )
    ) AS settings`;
