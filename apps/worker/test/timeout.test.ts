/** A run that takes too long has failed; its slot is taken until its handler has really returned. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const payload = z.object({});
const brief = defineJob({ type: 'test.brief', payload, timeout: '200ms', maxAttempts: 1 });
const next = defineJob({ type: 'test.next', payload });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const TIMED_OUT = {
  attempt: 1,
  kind: 'timeout',
  message: expect.stringContaining('timeout of 200 ms') as string,
};

test('a handler that ignores its signal keeps its slot, not its job', async () => {
  const gate = createGate();
  let signal: AbortSignal | undefined;
  let nextRan = false;
  const worker = startWorker({
    url: table.url,
    concurrency: 1,
    handlers: [
      handle(brief, async (_payload, ctx) => {
        signal = ctx.signal;
        await gate.opened;
        return { done: 'too late' };
      }),
      handle(next, async () => {
        nextRan = true;
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, brief, {});
  await waitFor(() => signal);
  const { id: nextId } = await enqueue(worker.prisma, next, {});

  // Settled while it still runs.
  await waitFor(async () => (await table.row(id)).state === 'dead');
  expect((await table.row(id)).errors).toMatchObject([TIMED_OUT]);
  expect(signal?.reason).toMatchObject({ code: 'JOB_TIMEOUT' });
  await waitFor(() => worker.health().loopIdleMs > 500);
  expect(worker.health().running).toBe(1);
  expect(await table.row(nextId)).toMatchObject({ state: 'pending', claims: 0 });

  gate.open();
  await waitFor(async () => (await table.row(nextId)).state === 'completed');
  expect(nextRan).toBe(true);
  // What it returned in the end changed nothing, and was no fenced write: nobody tried to write it.
  expect(await table.row(id)).toMatchObject({ state: 'dead', result: null, errors: [TIMED_OUT] });
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
});

test('one that obeys has failed by its timeout, whatever it throws', async () => {
  const worker = startWorker({
    url: table.url,
    handlers: [handle(brief, (_payload, ctx) => delay(60_000, undefined, { signal: ctx.signal }))],
  });
  const { id } = await enqueue(worker.prisma, brief, {});
  await waitFor(async () => (await table.row(id)).state === 'dead');
  expect((await table.row(id)).errors).toMatchObject([TIMED_OUT]);
  await waitFor(() => worker.health().running === 0);
});
