/** ctx.complete(tx) and ctx.assertClaim(tx): a handler's writes are committed exactly if its claim held. */
import { waitFor } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';
import { cancel, handle, type JobContext } from '../src/index.ts';
import {
  decide,
  prepareRun,
  reclaimJobs,
  renewLeases,
  settleRuns,
  type ClaimedJob,
} from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { newGate } from './fixtures/gate.ts';
import { startHandler, watchEnvironment } from './fixtures/run.ts';
import { complete, endLease, fenceOf, newClaim, newContract, reclaimedBehind } from './fixtures/jobs.ts';

const { prisma, newPrisma, row, lock, isWaiting } = await openDatabase();

/** The effect in Postgres: a row of the app's own. */
const effect = (key: string) => ({ data: { type: 'effect', payload: {}, idempotencyKey: key } });
const effects = (key: string) => prisma.event.count({ where: { idempotencyKey: key } });

/** Runs the handler and settles what came of it, as a worker does. */
async function runAndSettle(
  job: ClaimedJob,
  handler: (ctx: JobContext) => Promise<unknown>,
  contract = newContract(),
) {
  const { run, fenced, logged } = startHandler(prisma, job, (_, ctx) => handler(ctx), contract);
  const outcome = await run.outcome;
  const settled = { ...job, settlement: decide(outcome, job), completing: run.completing() };
  const unsettled = await settleRuns(prisma, [settled]);
  return { run, outcome, unsettled, fenced, logged };
}

describe('a transaction that completes its job', () => {
  test('commits with the effect, and there is nothing left to settle', async () => {
    const job = await newClaim(prisma);
    const { unsettled, fenced } = await runAndSettle(job, (ctx) =>
      prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx, { n: 1 });
        expect((await row(job.id)).state).toBe('running');
      }),
    );
    expect(unsettled).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
    expect(fenced).toEqual([]);
    expect(await row(job.id)).toMatchObject({
      state: 'completed',
      result: { n: 1 },
      claimToken: null,
      errors: [],
    });
    expect(await effects(job.id)).toBe(1);
  });

  test('rolls back with it: the attempt has failed with what made it roll back', async () => {
    const job = await newClaim(prisma);
    await runAndSettle(job, (ctx) =>
      prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
        throw new Error('no luck');
      }),
    );
    expect(await row(job.id)).toMatchObject({
      state: 'pending',
      errors: [{ kind: 'failed', message: 'no luck' }],
    });
    expect(await effects(job.id)).toBe(0);
  });

  test('rolls back unseen: a handler that returns all the same has failed', async () => {
    const job = await newClaim(prisma);
    await runAndSettle(job, async (ctx) => {
      const transaction = prisma.$transaction(async (tx) => {
        await ctx.complete(tx);
        throw new Error('swallowed');
      });
      await transaction.catch(() => {});
    });
    expect(await row(job.id)).toMatchObject({
      state: 'pending',
      errors: [{ message: expect.stringContaining('in a transaction that did not commit') as string }],
    });
  });

  test('committed: what the handler throws afterwards does not run the job again', async () => {
    const job = await newClaim(prisma);
    const { outcome, unsettled, logged } = await runAndSettle(job, async (ctx) => {
      await prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
      });
      throw new Error('after the commit');
    });
    expect(outcome).toMatchObject({ outcome: 'failed' });
    expect(unsettled).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
    expect(logged).toMatchObject([{ level: 'warn', message: 'handler threw after ctx.complete' }]);
    expect(await row(job.id)).toMatchObject({ state: 'completed', errors: [] });
    expect(await effects(job.id)).toBe(1);
  });

  test('has ended before anything is logged of it, because a logger may throw', async () => {
    const { environment, logged } = watchEnvironment(prisma);
    const handler = handle(newContract(), async (_payload, ctx) => {
      await prisma.$transaction((tx) => ctx.complete(tx));
      throw new Error('after the commit');
    });
    const lines: number[] = [];
    const job = await newClaim(prisma);
    await new Promise<void>((onReturn) => {
      const onOutcome = () => void lines.push(logged.length);
      prepareRun(job, handler, environment, { onOutcome, onReturn }).start();
    });
    expect(lines).toEqual([0]);
    expect(logged).toMatchObject([{ message: 'handler threw after ctx.complete' }]);
  });

  test('may complete a second time after a first one was rolled back', async () => {
    const job = await newClaim(prisma);
    await runAndSettle(job, async (ctx) => {
      const first = prisma.$transaction(async (tx) => {
        await ctx.complete(tx, 1);
        throw new Error('serialization failure, say');
      });
      await first.catch(() => {});
      await prisma.$transaction((tx) => ctx.complete(tx, 2));
    });
    expect(await row(job.id)).toMatchObject({ state: 'completed', result: 2 });
  });
});

test.each(['complete', 'assertClaim'] as const)(
  'ctx.%s waits for a row that is locked for a moment',
  async (method) => {
    const job = await newClaim(prisma);
    const release = await lock(job.id);
    const settling = runAndSettle(job, (ctx) => prisma.$transaction((tx) => ctx[method](tx)));
    await waitFor(isWaiting);
    await release();
    expect(await settling).toMatchObject({ fenced: [], unsettled: { lost: [], locked: [] } });
    expect(await row(job.id)).toMatchObject({ state: 'completed', errors: [] });
  },
);

describe('a completion whose answer was lost', () => {
  test('is found to be its own when it is settled again', async () => {
    const job = await newClaim(prisma);
    await settleRuns(prisma, [complete(job, '1')]);
    const again = await settleRuns(prisma, [{ ...complete(job, '2'), completing: true }]);
    expect(again).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
    expect((await row(job.id)).result).toBe(1);
  });

  test('is not mistaken for that of a later claim', async () => {
    const contract = newContract();
    const stale = await newClaim(prisma, contract);
    const current = await reclaimedBehind(prisma, stale, contract);
    await settleRuns(prisma, [complete(current)]);
    const late = await settleRuns(prisma, [{ ...complete(stale), completing: true }]);
    expect(late).toEqual({ lost: [fenceOf(stale)], locked: [] });
  });

  test('in a batch with both claims of one row each is told apart', async () => {
    const contract = newContract();
    const stale = await newClaim(prisma, contract);
    const current = await reclaimedBehind(prisma, stale, contract);
    await settleRuns(prisma, [complete(current)]);
    for (const runs of [
      [stale, current],
      [current, stale],
    ]) {
      const settled = await settleRuns(
        prisma,
        runs.map((job) => ({ ...complete(job), completing: true })),
      );
      expect(settled).toMatchObject({ lost: [fenceOf(stale)], locked: [], completed: [fenceOf(current)] });
    }
  });
});

describe('a claim that was lost before', () => {
  test.each(['complete', 'assertClaim'] as const)(
    'makes ctx.%s throw, and the effect is rolled back',
    async (method) => {
      const contract = newContract();
      const job = await newClaim(prisma, contract);
      const { run, outcome, fenced, unsettled } = await runAndSettle(job, async (ctx) => {
        await reclaimedBehind(prisma, job, contract);
        await prisma.$transaction(async (tx) => {
          await tx.event.create(effect(job.id));
          await ctx[method](tx);
        });
      });
      expect(outcome).toMatchObject({
        outcome: 'failed',
        kind: 'claim_lost',
        thrown: { message: expect.stringContaining(`this claim no longer owns job ${job.id}`) as string },
      });
      expect(run.signal.reason).toMatchObject({ code: 'CLAIM_LOST', id: job.id });
      expect(fenced).toMatchObject([
        { op: method === 'complete' ? 'complete' : 'assert_claim', job: { id: job.id } },
      ]);
      expect(unsettled.lost).toEqual([fenceOf(job)]);
      expect(await row(job.id)).toMatchObject({ state: 'running', claims: 2, errors: [] });
      expect(await effects(job.id)).toBe(0);
    },
  );
});

describe('a transaction that has asserted its claim', () => {
  test('keeps it to its end, even past the lease: nobody can take the job', async () => {
    const job = await newClaim(prisma);
    const other = newPrisma(2);
    await runAndSettle(job, async (ctx) => {
      await endLease(prisma, [job.id]);
      await prisma.$transaction(async (tx) => {
        await ctx.assertClaim(tx);
        expect(await reclaimJobs(other, 100)).toEqual([]);
        expect(await renewLeases(other, [{ ...fenceOf(job), leaseMs: 1_000 }])).toMatchObject([
          { renewal: 'locked' },
        ]);
        expect(await cancel(other, job.id)).toEqual({ outcome: 'busy' });
        await tx.event.create(effect(job.id));
      });
      return 'done';
    });
    expect(await row(job.id)).toMatchObject({ state: 'completed', result: 'done' });
    expect(await effects(job.id)).toBe(1);
  });

  test('and goes on beyond its timeout: settling meets a locked row, and afterwards the completion', async () => {
    const job = await newClaim(prisma);
    const commit = newGate();
    const { run } = startHandler(
      prisma,
      job,
      (_, ctx) =>
        prisma.$transaction(async (tx) => {
          await ctx.complete(tx);
          await commit.opened;
        }),
      newContract({ timeout: 100 }),
    );
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ outcome: 'failed', kind: 'timeout' });
    await waitFor(() => run.completing());
    const settle = () =>
      settleRuns(prisma, [{ ...job, settlement: decide(outcome, job), completing: run.completing() }]);
    expect(await settle()).toEqual({ lost: [], locked: [fenceOf(job)] });
    commit.open();
    await run.returned;
    expect(await settle()).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
    expect(await row(job.id)).toMatchObject({ state: 'completed', errors: [] });
  });
});
