/**
 * ctx.complete(tx) that deletes the job's row, and completions of which nothing is left to look at: what a row that is
 * gone tells, and what it cannot.
 */
import { waitFor } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';
import { findJob, type JobContext } from '../src/index.ts';
import {
  decide,
  deleteFinished,
  renewLeases,
  settleRuns,
  type ClaimedJob,
  type SettledRun,
} from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { newGate } from './fixtures/gate.ts';
import {
  attemptError,
  claimOf,
  complete,
  enqueueJobs,
  failed,
  fenceOf,
  newClaim,
  newContract,
  only,
  reclaimedBehind,
  settled,
} from './fixtures/jobs.ts';
import { startHandler } from './fixtures/run.ts';

const { prisma, newPrisma, row, connect, lock, isWaiting } = await openDatabase();

const NOTHING = { keepCompleted: false } as const;
const settle = (runs: readonly SettledRun[]) => settleRuns(prisma, runs, NOTHING);
const isGone = async (id: string) => (await findJob(prisma, id)) === undefined;

/** The effect in Postgres: a row of the app's own. */
const effect = (key: string) => ({ data: { type: 'effect', payload: {}, idempotencyKey: key } });
const effects = (key: string) => prisma.event.count({ where: { idempotencyKey: key } });

/** Runs the handler and settles what came of it, as a worker does. */
async function runAndSettle(job: ClaimedJob, handler: (ctx: JobContext) => Promise<unknown>) {
  const { run, fenced, logged } = startHandler(prisma, job, (_, ctx) => handler(ctx), newContract(), NOTHING);
  const outcome = await run.outcome;
  const unsettled = await settle([
    { ...job, settlement: decide(outcome, job), completing: run.completing() },
  ]);
  return { run, outcome, unsettled, fenced, logged };
}

describe('a transaction that completes its job', () => {
  test('deletes it with the effect, and there is nothing left to settle', async () => {
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
    expect(await isGone(job.id)).toBe(true);
    expect(await effects(job.id)).toBe(1);
  });

  test('rolls back with it: the row is there, and the attempt has failed', async () => {
    const job = await newClaim(prisma);
    const { unsettled } = await runAndSettle(job, (ctx) =>
      prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
        throw new Error('no luck');
      }),
    );
    expect(unsettled).toEqual({ lost: [], locked: [] });
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
    const { outcome, unsettled } = await runAndSettle(job, async (ctx) => {
      await prisma.$transaction((tx) => ctx.complete(tx));
      throw new Error('after the commit');
    });
    expect(outcome).toMatchObject({ outcome: 'failed' });
    expect(unsettled).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
    expect(await isGone(job.id)).toBe(true);
  });

  test('may complete a second time after a first one was rolled back', async () => {
    const job = await newClaim(prisma);
    const { unsettled } = await runAndSettle(job, async (ctx) => {
      const first = prisma.$transaction(async (tx) => {
        await ctx.complete(tx);
        throw new Error('serialization failure, say');
      });
      await first.catch(() => {});
      await prisma.$transaction((tx) => ctx.complete(tx));
    });
    expect(unsettled.completed).toMatchObject([fenceOf(job)]);
    expect(await isGone(job.id)).toBe(true);
  });

  test('goes on beyond its timeout: settling meets a locked row, and afterwards the completion', async () => {
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
      NOTHING,
    );
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ outcome: 'failed', kind: 'timeout' });
    await waitFor(() => run.completing());
    const again = () => settle([{ ...job, settlement: decide(outcome, job), completing: run.completing() }]);
    expect(await again()).toEqual({ lost: [], locked: [fenceOf(job)] });
    expect(only(await renewLeases(newPrisma(1), [{ ...fenceOf(job), leaseMs: 1_000 }])).renewal).toBe(
      'locked',
    );
    commit.open();
    await run.returned;
    expect(await again()).toMatchObject({ lost: [], locked: [], completed: [fenceOf(job)] });
  });

  test('waits for a row that is locked for a moment', async () => {
    const job = await newClaim(prisma);
    const release = await lock(job.id);
    const settling = runAndSettle(job, (ctx) => prisma.$transaction((tx) => ctx.complete(tx)));
    await waitFor(isWaiting);
    await release();
    expect(await settling).toMatchObject({ fenced: [], unsettled: { completed: [fenceOf(job)] } });
    expect(await isGone(job.id)).toBe(true);
  });

  test('waits for a transaction that has just referred to the job, and is not committed without it', async () => {
    const job = await newClaim(prisma);
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM job_queue WHERE id = $1 FOR KEY SHARE', [job.id]);
    const settling = runAndSettle(job, (ctx) =>
      prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
      }),
    );
    await waitFor(isWaiting);
    await holder.query('ROLLBACK');
    expect(await settling).toMatchObject({ fenced: [], unsettled: { completed: [fenceOf(job)] } });
    expect(await isGone(job.id)).toBe(true);
    expect(await effects(job.id)).toBe(1);
  });

  test('has lost its claim: it throws, and the effect is rolled back', async () => {
    const contract = newContract();
    const job = await newClaim(prisma, contract);
    const { run, outcome, fenced, unsettled } = await runAndSettle(job, async (ctx) => {
      await reclaimedBehind(prisma, job, contract);
      await prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
      });
    });
    expect(outcome).toMatchObject({ outcome: 'failed', kind: 'claim_lost' });
    expect(run.signal.reason).toMatchObject({ code: 'CLAIM_LOST', id: job.id });
    expect(fenced).toMatchObject([{ op: 'complete', job: { id: job.id } }]);
    expect(unsettled).toEqual({ lost: [fenceOf(job)], locked: [] });
    expect(await row(job.id)).toMatchObject({ state: 'running', claims: 2, errors: [] });
    expect(await effects(job.id)).toBe(0);
  });

  test('has lost its claim to one that completed: told as lost, since it has found that it was', async () => {
    const contract = newContract();
    const job = await newClaim(prisma, contract);
    const { fenced, unsettled } = await runAndSettle(job, async (ctx) => {
      await settle([complete(await reclaimedBehind(prisma, job, contract))]);
      await prisma.$transaction(async (tx) => {
        await tx.event.create(effect(job.id));
        await ctx.complete(tx);
      });
    });
    expect(fenced).toMatchObject([{ op: 'complete' }]);
    expect(unsettled).toEqual({ lost: [fenceOf(job)], locked: [] });
    expect(await effects(job.id)).toBe(0);
  });
});

describe('a completion whose answer was lost', () => {
  const asked = (run: SettledRun) => ({ ...run, completing: true });

  test('is found to be its own when it is settled again: the row is gone', async () => {
    const job = await newClaim(prisma);
    await settle([complete(job)]);
    expect(await settle([asked(complete(job))])).toMatchObject({
      lost: [],
      locked: [],
      completed: [fenceOf(job)],
    });
  });

  test('is made again where it was not written', async () => {
    const job = await newClaim(prisma);
    expect(await settle([asked(complete(job))])).toEqual({ lost: [], locked: [] });
    expect(await isGone(job.id)).toBe(true);
  });

  test('is one of a batch: each is told apart', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 3);
    const [gone, open, lost] = await claimOf(prisma, contract);
    if (!gone || !open || !lost) throw new Error('three claims expected');
    await settle([complete(gone), failed(lost)]);
    expect(await settle([gone, open, lost].map((job) => asked(complete(job))))).toMatchObject({
      lost: [fenceOf(lost)],
      locked: [],
      completed: [fenceOf(gone)],
    });
    expect(await isGone(open.id)).toBe(true);
    expect((await row(lost.id)).state).toBe('pending');
  });

  test.each<[string, (stale: ClaimedJob, current: ClaimedJob) => Promise<unknown>]>([
    ['running under another claim', async () => {}],
    ['pending', (_, current) => settle([failed(current)])],
    ['dead', (_, current) => settle([settled(current, { settle: 'bury', error: attemptError('failed') })])],
    // By a worker that keeps.
    ['completed', (_, current) => settleRuns(prisma, [complete(current)])],
  ])('is lost where the row is %s', async (_state, make) => {
    const contract = newContract();
    const stale = await newClaim(prisma, contract);
    await make(stale, await reclaimedBehind(prisma, stale, contract));
    const before = await row(stale.id);
    expect(await settle([asked(complete(stale))])).toEqual({ lost: [fenceOf(stale)], locked: [] });
    expect(await row(stale.id)).toEqual(before);
  });

  test('cannot be told from that of a later claim, once the row is gone: nothing is written for it', async () => {
    const contract = newContract();
    const stale = await newClaim(prisma, contract);
    const current = await reclaimedBehind(prisma, stale, contract);
    await settle([complete(current)]);
    const { lost, completed } = await settle([asked(complete(stale)), asked(complete(current))]);
    expect(lost).toEqual([]);
    expect(completed?.map(({ claimToken }) => claimToken).sort()).toEqual(
      [stale.claimToken, current.claimToken].sort(),
    );
  });

  test('of a worker that keeps is not found in a row that is gone', async () => {
    const job = await newClaim(prisma);
    await settleRuns(prisma, [complete(job)]);
    await prisma.$executeRaw`UPDATE job_queue SET "finishedAt" = now() - interval '1 hour' WHERE id = ${job.id}::uuid`;
    await deleteFinished(prisma, 60_000, 1_000);
    expect(await isGone(job.id)).toBe(true);
    expect(await settleRuns(prisma, [asked(complete(job))])).toEqual({ lost: [fenceOf(job)], locked: [] });
  });
});
