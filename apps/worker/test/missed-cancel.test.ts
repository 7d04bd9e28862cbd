/** A cancellation that was asked for while wake-ups were lost is heard when they are back, not with the next renewal. */
import { setTimeout as delay } from 'node:timers/promises';
import { cancel, defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createJobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';

test('after a reconnect every claim is renewed', async () => {
  const table = await createJobTable();
  const proxy = await startProxy(table.url);
  // Its own renewal is twenty minutes away.
  const contract = defineJob({ type: 'test.missed', payload: z.object({}), lease: '1h' });
  const worker = startWorker({
    url: table.url,
    listenUrl: proxy.url,
    handlers: [handle(contract, (_payload, ctx) => delay(600_000, undefined, { signal: ctx.signal }))],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.health().running === 1 && worker.health().listening);
  proxy.cut();
  await waitFor(() => !worker.health().listening);
  expect(await cancel(worker.prisma, id)).toEqual({ outcome: 'requested' });
  proxy.mend();
  await waitFor(async () => (await table.row(id)).state === 'cancelled', { timeout: 20_000 });
  await table.close();
});
