/**
 * Jobs that were claimed ahead of a free slot: they start when one is free, and whoever cannot start them soon hands
 * them back.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { defineJob, enqueueMany, handle, type JobContext } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const payload = z.object({ n: z.int() });
const quick = defineJob({ type: 'test.quick', payload });
const jobs = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ payload: { n: from + n } }));
/** Enough for the worker to find out how short they are. */
const QUICK = 500;

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

/** Two slots; the first jobs end at once, and the later ones when the gate opens. */
function startTwoSlots() {
  const gate = createGate();
  const started: number[] = [];
  const contexts: JobContext[] = [];
  const atOnce: number[] = [];
  let running = 0;
  const worker = startWorker({
    url: table.url,
    concurrency: 2,
    handlers: [
      handle(quick, async ({ n }, context) => {
        started.push(n);
        contexts.push(context);
        atOnce.push((running += 1));
        await nextTurn();
        if (n >= QUICK) await gate.opened;
        running -= 1;
      }),
    ],
  });
  return { worker, gate, started, contexts, atOnce };
}

/** The later ones hold both slots, and more of them have been claimed. Of the first ones none is on its way any more. */
async function claimedAhead(started: readonly number[]): Promise<void> {
  await waitFor(() => started.includes(QUICK + 1));
  await waitFor(async () => {
    const { completed = 0, running = 0 } = await table.states();
    return completed === QUICK && running > 2;
  });
}

test('jobs that wait for a slot start in their order, each once, and never more at once than there are slots', async () => {
  const { worker, gate, started, atOnce } = startTwoSlots();
  gate.open();
  await enqueueMany(worker.prisma, quick, jobs(0, 2 * QUICK));
  await waitFor(async () => (await table.states())['completed'] === 2 * QUICK);
  expect(started).toEqual(Array.from({ length: 2 * QUICK }, (_, n) => n));
  expect(Math.max(...atOnce)).toBe(2);
  expect(await table.query('SELECT FROM job_queue WHERE attempts <> 1 OR claims <> 1')).toEqual([]);
});

test('a drain hands them back at once, uncharged', async () => {
  const { worker, gate, started } = startTwoSlots();
  await enqueueMany(worker.prisma, quick, jobs(0, 2 * QUICK));
  await claimedAhead(started);
  const drained = worker.drain({ timeoutMs: 600_000 });
  // From here on there are free slots.
  gate.open();
  await drained;
  expect(started.filter((n) => n >= QUICK)).toEqual([QUICK, QUICK + 1]);
  expect(await table.states()).toEqual({ completed: QUICK + 2, pending: QUICK - 2 });
  expect(await table.query(`SELECT FROM job_queue WHERE state = 'pending' AND attempts <> 0`)).toEqual([]);
});

test('what has found no slot within a moment is handed back, and nothing more is claimed ahead', async () => {
  const { worker, gate, started } = startTwoSlots();
  await enqueueMany(worker.prisma, quick, jobs(0, 2 * QUICK));
  await claimedAhead(started);
  await waitFor(async () => (await table.states())['running'] === 2);
  expect(started.filter((n) => n >= QUICK)).toEqual([QUICK, QUICK + 1]);
  expect(worker.said('job handed back').length).toBeGreaterThan(0);
  gate.open();
  await waitFor(async () => (await table.states())['completed'] === 2 * QUICK);
});

test('behind handlers that compute, none starts that has waited for long: the event loop gets its turn', async () => {
  const COMPUTING = 60;
  let turn = 0;
  const startedIn = new Map<number, number>();
  const turning = setInterval(() => (turn += 1), 1);
  onTestFinished(() => clearInterval(turning));
  const worker = startWorker({
    url: table.url,
    concurrency: 2,
    handlers: [
      handle(quick, async ({ n }) => {
        if (n < QUICK) return;
        startedIn.set(turn, (startedIn.get(turn) ?? 0) + 1);
        const until = performance.now() + 100;
        while (performance.now() < until);
      }),
    ],
  });
  await enqueueMany(worker.prisma, quick, jobs(0, QUICK + COMPUTING));
  await waitFor(async () => (await table.states())['completed'] === QUICK + COMPUTING, { timeout: 60_000 });
  expect(Math.max(...startedIn.values())).toBeLessThanOrEqual(20);
}, 90_000);

test('one that is cancelled while it waits never starts', async () => {
  const { worker, gate, started, contexts } = startTwoSlots();
  await enqueueMany(worker.prisma, quick, jobs(0, 2 * QUICK));
  await claimedAhead(started);
  const waiting = await table.query<{ n: number }>(
    `UPDATE job_queue SET "cancelRequestedAt" = now() WHERE state = 'running' RETURNING (payload ->> 'n')::int AS n`,
  );
  await table.query(`NOTIFY job_queue, 'cancel'`);
  // One renewal brings it back for those that run and those that wait.
  await waitFor(() => contexts.at(-1)?.signal.aborted);
  gate.open();
  await waitFor(async () => (await table.states())['completed'] === 2 * QUICK - waiting.length + 2);
  expect(started.filter((n) => waiting.some((job) => job.n === n))).toEqual([QUICK, QUICK + 1]);
});
