/** ctx.progress: on the row at once, fenced, and never a reason for a job to fail. */
import { waitFor } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';
import { decide } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { startHandler } from './fixtures/run.ts';
import { newClaim, newContract, reclaimedBehind, settleAll } from './fixtures/jobs.ts';

const { prisma, row, lock } = await openDatabase();

describe('ctx.progress', () => {
  test('is on the row at once, storable, and survives the run', async () => {
    const job = await newClaim(prisma);
    const before = await row(job.id);
    const { run } = startHandler(prisma, job, async (_, ctx) => {
      await ctx.progress({ at: 1, text: 'a\0' });
      expect(await row(job.id)).toEqual({ ...before, progress: { at: 1, text: 'a\ufffd' } });
      await ctx.progress(undefined);
      await ctx.progress('x'.repeat(65_535));
      throw new Error('no luck');
    });
    await settleAll(prisma, [{ ...job, settlement: decide(await run.outcome, job), completing: false }]);
    expect(await row(job.id)).toMatchObject({
      state: 'pending',
      progress: { truncated: true, bytes: 65_537 },
    });
  });

  test('that the database refuses is logged and never fails the job', async () => {
    const job = await newClaim(prisma);
    const broken = { ...prisma, $queryRaw: () => Promise.reject(new Error('connection refused')) };
    const { run, logged, fenced } = startHandler(broken as typeof prisma, job, async (_, ctx) => {
      await ctx.progress(1);
      return 'done';
    });
    expect(await run.outcome).toEqual({ outcome: 'completed', result: '"done"' });
    expect(logged).toMatchObject([
      { level: 'warn', message: 'progress not written', fields: { id: job.id, type: job.type, attempts: 1 } },
    ]);
    expect(fenced).toEqual([]);
  });

  test('that nobody awaits ends no process when the claim is gone', async () => {
    const contract = newContract();
    const job = await newClaim(prisma, contract);
    await reclaimedBehind(prisma, job, contract);
    const { run, fenced } = startHandler(prisma, job, async (_, ctx) => {
      void ctx.progress(1);
      await waitFor(() => ctx.signal.aborted);
    });
    await run.outcome;
    // An unhandled rejection would fail this file.
    expect(fenced).toMatchObject([{ op: 'progress' }]);
  });

  test('waits for a row that is locked for a moment', async () => {
    const job = await newClaim(prisma);
    const release = await lock(job.id);
    const { run, logged, pendingTimers } = startHandler(prisma, job, (_, ctx) => ctx.progress(1));
    // Its timeout, and the pause before it tries again.
    await waitFor(() => pendingTimers() === 2);
    await release();
    expect(await run.outcome).toMatchObject({ outcome: 'completed' });
    expect((await row(job.id)).progress).toBe(1);
    expect(logged).toEqual([]);
  });

  test('inside a transaction that holds the row is left out, and does not hang', async () => {
    const job = await newClaim(prisma);
    const { run, logged } = startHandler(prisma, job, (_, ctx) =>
      prisma.$transaction(async (tx) => {
        await ctx.assertClaim(tx);
        await ctx.progress(1);
      }),
    );
    expect(await run.outcome).toMatchObject({ outcome: 'completed' });
    expect(logged).toMatchObject([{ level: 'warn', message: 'progress not written: the row is locked' }]);
    expect((await row(job.id)).progress).toBeNull();
  });
});
