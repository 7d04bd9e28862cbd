/** What is illness and what is not. Minutes pass by the worker's own clock, which a test can put forward. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, enqueue, enqueueMany, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const payload = z.object({});
const lease = '1h';
const patient = defineJob({ type: 'test.patient', payload, lease, timeout: '1d' });
const brief = defineJob({ type: 'test.brief', payload, lease, timeout: '50ms', maxAttempts: 1 });
const MINUTES_MS = 60_000;

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

test('long jobs in every slot are none', async () => {
  const clock = createTestClock();
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    concurrency: 2,
    pollIntervalMs: 1_000,
    clock,
    handlers: [handle(patient, () => gate.opened)],
  });
  await enqueueMany(worker.prisma, patient, [{ payload: {} }, { payload: {} }]);
  await waitFor(() => worker.health().running === 2);
  clock.jump(20 * MINUTES_MS);
  // Saturated, it comes round with its poll.
  await waitFor(() => worker.health().loopIdleMs < 20 * MINUTES_MS);
  expect(worker.health()).toMatchObject({ healthy: true, problems: [], running: 2, slots: 2 });
  gate.open();
});

test('every slot held by a handler that ignores its abort is one', async () => {
  const clock = createTestClock();
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    concurrency: 2,
    pollIntervalMs: 1_000,
    clock,
    handlers: [handle(brief, () => gate.opened)],
  });
  await enqueue(worker.prisma, brief, {});
  await enqueue(worker.prisma, brief, {});
  await waitFor(async () => (await table.states())['dead'] === 2);
  expect(worker.health()).toMatchObject({ healthy: true, running: 2 });
  clock.jump(MINUTES_MS);
  expect(worker.health()).toMatchObject({
    healthy: false,
    problems: expect.arrayContaining(['every slot is held by a handler that ignores its abort']) as string[],
  });
  gate.open();
  await waitFor(() => worker.health().healthy);
});

test('one slot that is left is enough', async () => {
  const clock = createTestClock();
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    concurrency: 2,
    pollIntervalMs: 1_000,
    clock,
    handlers: [handle(brief, () => gate.opened), handle(patient, () => gate.opened)],
  });
  await enqueue(worker.prisma, brief, {});
  await enqueue(worker.prisma, patient, {});
  await waitFor(async () => (await table.states())['dead'] === 1);
  clock.jump(MINUTES_MS);
  await waitFor(() => worker.health().healthy);
  expect(worker.health().running).toBe(2);
  gate.open();
});

test('a database that stays away is one', async () => {
  const proxy = await startProxy(table.url);
  const clock = createTestClock();
  const worker = startWorker({ url: proxy.url, clock, handlers: [handle(patient, async () => {})] });
  await waitFor(() => worker.health().listening);
  proxy.cut();
  await waitFor(() => worker.health().databaseFailingMs > 0);
  expect(worker.health().healthy).toBe(true);
  clock.jump(1.1 * MINUTES_MS);
  expect(worker.health().problems).toContain('the database does not answer');
  proxy.mend();
  await waitFor(() => worker.health().healthy && worker.health().databaseFailingMs === 0, {
    timeout: 20_000,
  });
});

test('a database that lets no claim through is one, whatever else it does', async () => {
  await table.query(`
    CREATE FUNCTION test_no_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'no claim today';
    END $$;
    CREATE TRIGGER test_no_claim BEFORE UPDATE ON job_queue FOR EACH ROW
    WHEN (NEW.claims > OLD.claims)
    EXECUTE FUNCTION test_no_claim();`);
  const clock = createTestClock();
  const worker = startWorker({ url: table.url, clock, handlers: [handle(patient, async () => {})] });
  await enqueue(worker.prisma, patient, {});
  const failures = () => worker.metric('fencepost_database_errors_total', { statement: 'claim' });
  await waitFor(async () => (await failures()) > 0);
  expect(worker.health().healthy).toBe(true);
  clock.jump(1.1 * MINUTES_MS);
  await waitFor(() => worker.health().problems.includes('no claim goes through'));
  await table.query('DROP TRIGGER test_no_claim ON job_queue');
  await waitFor(async () => (await table.states())['completed'] === 1, { timeout: 20_000 });
  await waitFor(() => worker.health().healthy);
});

test('a loop that does not come round is one', async () => {
  const clock = createTestClock();
  const worker = startWorker({
    url: table.url,
    pollIntervalMs: 1_000,
    clock,
    handlers: [handle(patient, async () => {})],
  });
  await waitFor(() => worker.health().listening);
  // Nothing gets past this: the claim waits.
  const psql = await table.session();
  await psql.query('BEGIN');
  await psql.query('LOCK TABLE job_queue IN ACCESS EXCLUSIVE MODE');
  await waitFor(() => worker.health().loopIdleMs > 2_000);
  expect(worker.health().healthy).toBe(true);
  clock.jump(MINUTES_MS);
  expect(worker.health()).toMatchObject({ healthy: false, problems: ['the loop does not come round'] });
  await psql.query('COMMIT');
  await waitFor(() => worker.health().healthy);
});

test('a drain is told, and is none', async () => {
  const worker = startWorker({
    url: table.url,
    handlers: [handle(patient, (_payload, ctx) => delay(60_000, undefined, { signal: ctx.signal }))],
  });
  await enqueue(worker.prisma, patient, {});
  await waitFor(() => worker.health().running === 1);
  const drained = worker.drain({ timeoutMs: 60_000 });
  expect(worker.health()).toMatchObject({ healthy: true, draining: true });
  // However often it is asked for, there is one.
  expect(worker.drain({ timeoutMs: 0 })).toBe(drained);
  worker.hurry();
  await drained;
  expect(worker.said('drain begins')).toHaveLength(1);
  expect(worker.health().running).toBe(0);
});
