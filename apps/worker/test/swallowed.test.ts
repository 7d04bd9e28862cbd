/** A network can swallow connections without a word: nothing the worker waits for is waited for without an end. */
import { defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const gated = defineJob({ type: 'test.gated', payload: z.object({}) });
const quick = defineJob({ type: 'test.quick', payload: z.object({}) });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
afterAll(() => table.close());

test('a worker whose connections are swallowed settles its runs and claims by new ones', async () => {
  const proxy = await startProxy(table.url);
  const gate = createGate();
  let runs = 0;
  const worker = startWorker({
    url: proxy.url,
    queryTimeoutMs: 1_000,
    // Fifteen seconds of patience take three.
    clock: createTestClock(5),
    handlers: [
      handle(gated, () => {
        runs++;
        return gate.opened;
      }),
      handle(quick, async () => {}),
    ],
  });
  const { id } = await enqueue(worker.prisma, gated, {});
  await waitFor(() => runs === 1);

  proxy.forget();
  gate.open();
  await table.query(`INSERT INTO job_queue (type) VALUES ('test.quick')`);
  await waitFor(async () => (await table.states())['completed'] === 2, { timeout: 25_000 });
  expect(runs).toBe(1);
  expect(await table.row(id)).toMatchObject({ claims: 1, crashes: 0, errors: [] });
  expect(worker.said('fenced write: this claim no longer owns the row')).toEqual([]);
});
