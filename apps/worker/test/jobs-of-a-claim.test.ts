/** Jobs of one claim share its token, and nothing else: what becomes of one of them is no matter of the others. */
import { defineJob, enqueueMany, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

// A lease that is renewed by itself in twenty minutes.
const contract = defineJob({ type: 'test.neighbours', payload: z.object({}), lease: '1h' });

test('one that is lost is stopped and fenced; the others are renewed and completed', async () => {
  const table = await createJobTable();
  const gate = createGate();
  const signals = new Map<string, AbortSignal>();
  const worker = startWorker({
    url: table.url,
    sweepIntervalMs: 600_000,
    handlers: [
      handle(contract, (_payload, ctx) => {
        signals.set(ctx.job.id, ctx.signal);
        return gate.opened;
      }),
    ],
  });
  await waitFor(() => worker.health().listening);
  const outcomes = await enqueueMany(worker.prisma, contract, [
    { payload: {} },
    { payload: {} },
    { payload: {} },
  ]);
  const [lost, ...others] = outcomes.map(({ id }) => id);
  await waitFor(() => signals.size === 3);
  const rows = await Promise.all([lost!, ...others].map((id) => table.row(id)));
  expect(new Set(rows.map(({ claimToken }) => claimToken)).size).toBe(1);
  await table.query('UPDATE job_queue SET "claimToken" = gen_random_uuid() WHERE id = $1', [lost]);

  // The first renewal finds the loss, and the second one is of what is left.
  for (let asked = 1; asked <= 2; asked++) {
    const before = await Promise.all(others.map((id) => table.row(id)));
    await table.query(`SELECT pg_notify('job_queue', 'cancel')`);
    await waitFor(async () => {
      const after = await Promise.all(others.map((id) => table.row(id)));
      return after.every(({ lockUntil }, n) => Number(lockUntil) > Number(before[n]!.lockUntil));
    });
  }
  await waitFor(() => signals.get(lost!)?.aborted);
  expect(others.map((id) => signals.get(id)?.aborted)).toEqual([false, false]);

  gate.open();
  await waitFor(async () => (await worker.metric('fencepost_fenced_total', { op: 'settle' })) > 0);
  await waitFor(async () => (await table.states())['completed'] === 2);
  expect(await worker.metric('fencepost_settled_total', { settle: 'complete' })).toBe(2);
  expect(await worker.metric('fencepost_fenced_total', { op: 'settle' })).toBe(1);
  expect(await worker.metric('fencepost_fenced_total', { op: 'renew' })).toBe(1);
  expect((await table.row(lost!)).state).toBe('running');
  await table.close();
});
