import { beforeEach, describe, expect, test } from 'vitest';
import { DiscardError, enqueue, findJob, handle, SnoozeError } from '../src/index.ts';
import { runDueJobs } from '../src/testing/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { enqueueJobs, newContract } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
});

describe('runDueJobs', () => {
  test('runs what is due and has a handler, and leaves the rest', async () => {
    const contract = newContract();
    const other = newContract();
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    const [later = ''] = await enqueueJobs(prisma, contract, 1, { delay: '1h' });
    const [unhandled = ''] = await enqueueJobs(prisma, other, 1);
    const finished = await runDueJobs(prisma, [handle(contract, async (payload) => ({ payload }))]);
    expect(finished).toEqual([
      { id, type: contract.type, outcome: { outcome: 'completed', result: '{"payload":{"n":0}}' } },
    ]);
    expect(await findJob(prisma, id)).toMatchObject({ state: 'completed', result: { payload: { n: 0 } } });
    expect((await row(later)).state).toBe('pending');
    expect((await row(unhandled)).state).toBe('pending');
  });

  test('runs what these jobs enqueue, round by round', async () => {
    const contract = newContract();
    const handler = handle(contract, async (payload, ctx) => {
      const { left } = payload as { left: number };
      if (left === 0) return;
      await prisma.$transaction(async (tx) => {
        await enqueue(tx, contract, { left: left - 1 });
        await ctx.complete(tx, { left });
      });
    });
    await enqueue(prisma, contract, { left: 4 });
    const finished = await runDueJobs(prisma, [handler]);
    expect(finished.map(({ outcome }) => outcome.outcome)).toEqual(Array(5).fill('completed'));
    const jobs = await prisma.jobQueue.findMany({ orderBy: { id: 'asc' } });
    expect(jobs.map(({ state, result }) => [state, result])).toEqual([
      ['completed', { left: 4 }],
      ['completed', { left: 3 }],
      ['completed', { left: 2 }],
      ['completed', { left: 1 }],
      ['completed', null],
    ]);
  });

  test('settles failures as production does', async () => {
    const fails = newContract();
    const discards = newContract();
    const snoozes = newContract();
    for (const contract of [fails, discards, snoozes]) await enqueueJobs(prisma, contract, 1);
    const finished = await runDueJobs(prisma, [
      handle(fails, () => Promise.reject(new Error('no luck'))),
      handle(discards, () => Promise.reject(new DiscardError('never'))),
      handle(snoozes, () => Promise.reject(new SnoozeError('5m'))),
    ]);
    expect(new Map(finished.map(({ type, outcome }) => [type, outcome.outcome]))).toEqual(
      new Map([
        [fails.type, 'failed'],
        [discards.type, 'discarded'],
        [snoozes.type, 'snoozed'],
      ]),
    );
    const state = async (type: string) => prisma.jobQueue.findFirst({ where: { type } });
    expect(await state(fails.type)).toMatchObject({
      state: 'pending',
      attempts: 1,
      errors: [{ message: 'no luck' }],
    });
    expect(await state(discards.type)).toMatchObject({ state: 'dead', attempts: 1 });
    expect(await state(snoozes.type)).toMatchObject({ state: 'pending', attempts: 0 });
  });

  test('runs a few hundred', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 250);
    expect(await runDueJobs(prisma, [handle(contract, async () => {})])).toHaveLength(250);
    expect(await prisma.jobQueue.count({ where: { state: 'completed' } })).toBe(250);
  });

  test('finds nothing', async () => {
    expect(await runDueJobs(prisma, [handle(newContract(), async () => {})])).toEqual([]);
    expect(await runDueJobs(prisma, [])).toEqual([]);
  });
});

test('there is an end to jobs that are always due', async () => {
  const contract = newContract();
  await enqueueJobs(prisma, contract, 1);
  const again = handle(contract, () => Promise.reject(new SnoozeError(0)));
  await expect(runDueJobs(prisma, [again])).rejects.toMatchObject({ code: 'RUNAWAY_JOBS' });
});

test('there is one handler a type', async () => {
  const handler = handle(newContract(), async () => {});
  await expect(runDueJobs(prisma, [handler, handler])).rejects.toMatchObject({ code: 'DUPLICATE_HANDLER' });
});
