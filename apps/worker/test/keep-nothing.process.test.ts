/** Worker processes that keep nothing, killed and frozen in the middle of a run: one owner at a time, one effect a job. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue, enqueueMany } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findFaults } from './fixtures/claim-history.ts';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

const contracts = { lease: '2s' } as const;
const FENCED = 'fenced write: this claim no longer owns the row';

let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url);
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

const newWorker = (concurrency = 10) =>
  spawnWorker({ url: table.url, contracts, concurrency, sweepIntervalMs: 500, keepCompleted: false });
const effects = () => table.query('SELECT job, fence FROM test_effect');
const isEmpty = async () => Object.keys(await table.states()).length === 0;

test('two workers share thousands of jobs: each is completed once and gone, with one effect', async () => {
  const { effect } = testContracts(contracts);
  const enqueueBatch = () =>
    enqueueMany(
      prisma,
      effect,
      Array.from({ length: 500 }, () => ({ payload: {} })),
    );
  await enqueueBatch();
  const workers = await Promise.all([newWorker(20), newWorker(20)]);
  for (let batch = 1; batch < 4; batch++) await enqueueBatch();
  await waitFor(isEmpty, { timeout: 90_000, interval: 200 });

  expect(await findFaults(table)).toEqual([]);
  expect(await effects()).toHaveLength(2_000);
  for (const worker of workers) {
    expect(await worker.metric('fencepost_fenced_total{op="complete"}')).toBe(0);
    expect(
      await worker.metric('fencepost_settled_total{type="test.effect",settle="complete"}'),
    ).toBeGreaterThan(0);
  }
});

test('a worker is killed: another one completes its job, once', async () => {
  const { effect } = testContracts(contracts);
  const victim = await newWorker();
  const { id } = await enqueue(prisma, effect, { ms: 60_000 });
  await victim.waitForLine((line) => line['msg'] === 'run began');
  // The next run is a short one.
  await table.query(`UPDATE job_queue SET payload = '{}' WHERE id = $1`, [id]);
  victim.signal('SIGKILL');
  await victim.exited;

  const heir = await newWorker();
  await waitFor(isEmpty, { timeout: 30_000 });
  expect(await effects()).toEqual([{ job: id, fence: 2 }]);
  expect(await findFaults(table)).toEqual([]);
  expect(await heir.metric('fencepost_reclaimed_total{type="test.effect",state="pending"}')).toBe(1);
  expect(await heir.metric('fencepost_fenced_total{op="complete"}')).toBe(0);
});

test('a worker goes on when its jobs have been completed by another and are gone: fenced, and no second effect', async () => {
  const { writer, finisher } = testContracts(contracts);
  const frozen = await newWorker();
  const { id } = await enqueue(prisma, writer, {});
  const { id: finished } = await enqueue(prisma, finisher, {});
  await waitFor(() => frozen.said('run began').length === 2);
  frozen.signal('SIGSTOP');

  const heir = await newWorker();
  await waitFor(() => heir.said('run began').length === 2, { timeout: 30_000 });
  heir.signal('SIGUSR2');
  await waitFor(isEmpty, { timeout: 30_000 });
  expect(await effects()).toEqual([{ job: id, fence: 2 }]);

  frozen.signal('SIGUSR2');
  frozen.signal('SIGCONT');
  const fenced = (op: string) => frozen.said(FENCED).filter((line) => line['op'] === op);
  await waitFor(() => fenced('settle').length === 2, { timeout: 30_000 });
  expect(frozen.said('run wrote').map(({ write, code }) => ({ write, code }))).toEqual([
    { write: 'progress', code: 'CLAIM_LOST' },
    { write: 'assertClaim', code: 'CLAIM_LOST' },
    { write: 'complete', code: 'CLAIM_LOST' },
  ]);
  expect(new Set(fenced('settle').map((line) => line['id']))).toEqual(new Set([id, finished]));
  for (const op of ['progress', 'assert_claim', 'complete', 'settle']) {
    expect(await frozen.metric(`fencepost_fenced_total{op="${op}"}`)).toBe(op === 'settle' ? 2 : 1);
  }
  expect(frozen.said('job completed')).toEqual([]);
  expect(await isEmpty()).toBe(true);
  expect(await effects()).toEqual([{ job: id, fence: 2 }]);
  const completed = await table.query("SELECT job, claims FROM test_history WHERE state = 'completed'");
  expect(completed).toHaveLength(2);
  expect(completed).toEqual(expect.arrayContaining([id, finished].map((job) => ({ job, claims: 2 }))));
});
