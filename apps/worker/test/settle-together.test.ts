/** Which runs are settled in one statement, and what none of them waits for. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, enqueue, enqueueMany, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate, type Gate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { noteStatements } from './fixtures/statements.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const contract = defineJob({
  type: 'test.together',
  payload: z.object({ gate: z.string().optional() }),
  lease: '1h',
});
const SETTLEMENT = '"completed" AS (';

/** By this clock, five milliseconds are ten seconds: what waits for them is seen to wait. */
const slowClock = () => createTestClock(0.0005);
const SOON = { timeout: 5_000 };

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const completed = async () => (await table.states())['completed'] ?? 0;
const some = (count: number, gate: string) => Array.from({ length: count }, () => ({ payload: { gate } }));

test('what ends together is settled together', async () => {
  const gate = createGate();
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    concurrency: 100,
    clientOf: statements.clientOf,
    handlers: [handle(contract, () => gate.opened)],
  });
  await enqueueMany(worker.prisma, contract, some(100, 'one'));
  await waitFor(() => worker.health().running === 100);
  gate.open();
  await waitFor(async () => (await completed()) === 100);
  expect(statements.count(SETTLEMENT)).toBeLessThanOrEqual(5);
});

test('what ends one by one is settled in few statements', async () => {
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    // A hundred milliseconds from one settlement to the next, many times what a slow database takes for one.
    clock: createTestClock(0.05),
    concurrency: 1,
    clientOf: statements.clientOf,
    handlers: [handle(contract, () => delay(1))],
  });
  const startedAt = performance.now();
  await enqueueMany(worker.prisma, contract, some(200, 'one'));
  await waitFor(async () => (await completed()) === 200);
  const tookMs = (performance.now() - startedAt) * 0.05;
  // Of the five milliseconds between two, a timer may leave out one.
  expect(statements.count(SETTLEMENT)).toBeLessThanOrEqual(1 + tookMs / 4);
});

test('a run alone is settled at once, the first and any that comes a moment after the last settlement', async () => {
  const clock = slowClock();
  const worker = startWorker({ url: table.url, clock, handlers: [handle(contract, async () => {})] });
  await waitFor(() => worker.health().listening);
  await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await completed()) === 1, SOON);
  clock.jump(10);
  await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await completed()) === 2, SOON);
});

test('a whole batch is sent while what ended before it waits, and so is the next one', async () => {
  const gates = new Map<string, Gate>(['first', 'second'].map((name) => [name, createGate()]));
  const worker = startWorker({
    url: table.url,
    clock: slowClock(),
    concurrency: 500,
    handlers: [handle(contract, async ({ gate = '' }) => gates.get(gate)?.opened)],
  });
  await waitFor(() => worker.health().listening);
  await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await completed()) === 1, SOON);
  // From here on, one run waits for its time.
  await enqueue(worker.prisma, contract, {});
  for (const [n, [name, gate]] of [...gates].entries()) {
    await enqueueMany(worker.prisma, contract, some(500, name));
    await waitFor(() => worker.health().running === 500, SOON);
    gate.open();
    await waitFor(async () => (await completed()) >= 1 + 500 * (n + 1), SOON);
  }
  expect(await table.states()).toEqual({ completed: 1_001, running: 1 });
});
