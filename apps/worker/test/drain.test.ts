/** What a drain owes to nobody: it ends in time, whatever the database does. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DRAIN_TAIL_MS } from '../src/drain.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';

const contract = defineJob({ type: 'test.drained', payload: z.object({}) });

test.each(['cut', 'swallow'] as const)(
  'a database that is away (%s) holds up no drain, and what it left is told',
  async (fault) => {
    const table = await createJobTable();
    const proxy = await startProxy(table.url);
    const worker = startWorker({
      url: proxy.url,
      handlers: [handle(contract, (_payload, ctx) => delay(60_000, undefined, { signal: ctx.signal }))],
    });
    const { id } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => worker.health().running === 1);
    proxy[fault]();
    const since = performance.now();
    await worker.drain({ timeoutMs: 500 });
    expect(performance.now() - since).toBeLessThan(500 + DRAIN_TAIL_MS + 3_000);
    expect(worker.said('drain could not hand back every claim, left to the sweep')).toMatchObject([
      { level: 50, ids: [id] },
    ]);
    proxy.mend();
    await table.close();
  },
);

test('a drain with nothing to do is over at once', async () => {
  const table = await createJobTable();
  const worker = startWorker({ url: table.url, handlers: [handle(contract, async () => {})] });
  await waitFor(() => worker.health().listening);
  const since = performance.now();
  await worker.drain({ timeoutMs: 60_000 });
  expect(performance.now() - since).toBeLessThan(3_000);
  expect(
    await table.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'wake-ups'`,
    ),
  ).toEqual([]);
  await table.close();
});
