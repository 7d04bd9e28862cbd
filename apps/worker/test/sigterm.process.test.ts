/**
 * A worker that is told to stop: whatever it was doing, afterwards no row is running that nobody runs, nothing is
 * charged that was not used, and the process has ended with 0, in time.
 */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue, enqueueMany } from '@fencepost/queue';
import { reclaimJobs } from '@fencepost/queue/protocol';
import { waitFor } from '@fencepost/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock, within } from '../src/clock.ts';
import { DRAIN_TAIL_MS } from '../src/drain.ts';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker, type WorkerProcess } from './fixtures/spawn-worker.ts';

/** How late a busy machine may be. */
const SLACK_MS = 3_000;
const contracts = { lease: '3s' } as const;
const { sleeper, stubborn, endless } = testContracts(contracts);
const HANDED_BACK = { state: 'pending', attempts: 0, claims: 1, crashes: 0, errors: [], claimToken: null };

let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url);
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterEach(async () => {
  expect((await table.states())['running']).toBeUndefined();
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

async function until(worker: WorkerProcess, runs: number): Promise<void> {
  await waitFor(() => worker.said('run began').length === runs);
}

/** Sends the signal and waits for the end: its code, and how long it took. */
async function end(worker: WorkerProcess, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM') {
  const since = performance.now();
  worker.signal(signal);
  const { code } = await worker.exited;
  return { code, took: performance.now() - since };
}

test('jobs in flight are waited for, over many leases, and none is begun', async () => {
  const worker = await spawnWorker({ url: table.url, contracts, drainTimeoutMs: 30_000 });
  const { id } = await enqueue(prisma, sleeper, { ms: 9_000 });
  const { id: deaf } = await enqueue(prisma, stubborn, { ms: 1_000 });
  await until(worker, 2);
  const ended = end(worker);
  await worker.waitForLine((line) => line['msg'] === 'told to reach a checkpoint');
  expect((await worker.get('/readyz')).status).toBe(503);
  expect((await worker.get('/healthz')).status).toBe(200);
  const { id: late } = await enqueue(prisma, sleeper, { ms: 0 });

  // Others sweep meanwhile, and find its leases renewed.
  const alive = waitFor(() => worker.said('drain ended').length > 0, { timeout: 30_000 });
  for (let draining = true; draining; draining = !(await within(systemClock, 200, alive))) {
    expect(await reclaimJobs(prisma, 100)).toEqual([]);
  }
  // It ends with its last job, not with its deadline.
  expect(await ended).toMatchObject({ code: 0 });
  expect((await ended).took).toBeLessThan(9_000 + DRAIN_TAIL_MS + SLACK_MS);
  for (const done of [id, deaf]) {
    expect(await table.row(done)).toMatchObject({ state: 'completed', attempts: 1, claims: 1, errors: [] });
  }
  expect(await table.row(late)).toMatchObject({ state: 'pending', attempts: 0, claims: 0 });
  expect(worker.said('drain ended')).toMatchObject([{ stopped: 0, released: 0 }]);
});

test('at the deadline jobs are handed back, also those whose handlers never return', async () => {
  const worker = await spawnWorker({ url: table.url, contracts, drainTimeoutMs: 1_000 });
  const obedient = await enqueue(prisma, sleeper, { ms: 60_000 });
  const deaf = await enqueue(prisma, stubborn, { ms: 60_000 });
  const lost = await enqueue(prisma, endless, {});
  await until(worker, 3);
  const { code, took } = await end(worker);
  expect(code).toBe(0);
  expect(took).toBeGreaterThan(1_000);
  expect(took).toBeLessThan(1_000 + DRAIN_TAIL_MS + SLACK_MS);
  for (const { id } of [obedient, deaf, lost]) expect(await table.row(id)).toMatchObject(HANDED_BACK);
  expect(await table.query('SELECT FROM job_queue WHERE "runAt" <= now()')).toHaveLength(3);
  expect(worker.said('run told to stop')).toMatchObject([
    { code: 'DRAIN_DEADLINE' },
    { code: 'DRAIN_DEADLINE' },
    { code: 'DRAIN_DEADLINE' },
  ]);
  expect(worker.said('drain ended')).toMatchObject([{ stopped: 3, released: 2 }]);
});

test('a second signal ends the wait, and still hands back', async () => {
  const worker = await spawnWorker({ url: table.url, contracts, drainTimeoutMs: 120_000 });
  const obedient = await enqueue(prisma, sleeper, { ms: 60_000 });
  const lost = await enqueue(prisma, endless, {});
  await until(worker, 2);
  worker.signal('SIGTERM');
  await worker.waitForLine((line) => line['msg'] === 'drain begins');
  const { code, took } = await end(worker, 'SIGINT');
  expect(code).toBe(0);
  expect(took).toBeLessThan(DRAIN_TAIL_MS + SLACK_MS);
  for (const { id } of [obedient, lost]) expect(await table.row(id)).toMatchObject(HANDED_BACK);
});

test('what a claim in flight brings is handed back without having begun', async () => {
  const worker = await spawnWorker({ url: table.url, contracts, drainTimeoutMs: 30_000 });
  await table.query(`
    CREATE FUNCTION test_slow_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_sleep(0.5);
      RETURN NEW;
    END $$;
    CREATE TRIGGER test_slow_claim BEFORE UPDATE ON job_queue FOR EACH ROW
    WHEN (OLD.state = 'pending' AND NEW.state = 'running')
    EXECUTE FUNCTION test_slow_claim();`);
  try {
    await enqueueMany(
      prisma,
      sleeper,
      Array.from({ length: 4 }, () => ({ payload: { ms: 0 } })),
    );
    await waitFor(async () => {
      const asleep = await table.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
      );
      return asleep.length > 0;
    });
    expect(await end(worker)).toMatchObject({ code: 0 });
  } finally {
    await table.query('DROP TRIGGER test_slow_claim ON job_queue');
  }
  expect(worker.said('run began')).toEqual([]);
  expect(worker.said('job handed back')).toHaveLength(4);
  for (const row of await table.query('SELECT * FROM job_queue')) expect(row).toMatchObject(HANDED_BACK);
});
