import { describe, expect, test } from 'vitest';
import type { Settlement } from '../src/core/decide.ts';
import { cancel } from '../src/index.ts';
import { settleRuns, type ClaimedJob } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  attemptError,
  claimOf,
  complete,
  enqueueJobs,
  failed,
  newClaim,
  newContract,
  only,
  settled,
} from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

const unclaimed = { claimToken: null, lockUntil: null, retryDelayMs: null };
const claimedOnce = { attempts: 1, claims: 1, claimedBy: 'worker-1' };

async function settleOne(job: ClaimedJob, settlement: Settlement) {
  const before = await row(job.id);
  expect(await settleRuns(prisma, [settled(job, settlement)])).toEqual({ lost: [], locked: [] });
  const after = await row(job.id);
  expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
  expect(after).toMatchObject(unclaimed);
  return { before, after };
}

describe('a run that ended', () => {
  test.each([
    [null, null],
    ['{"n":1}', { n: 1 }],
    ['"text \\" 👩‍🚀"', 'text " 👩‍🚀'],
    ['[]', []],
    ['false', false],
  ])('complete with %s', async (json, result) => {
    const { after } = await settleOne(await newClaim(prisma), { settle: 'complete', result: json });
    expect(after).toMatchObject({ ...claimedOnce, state: 'completed', result, errors: [] });
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test('retry: pending after the row’s own delay, charged, with its error', async () => {
    const error = attemptError('failed', 'no luck 👩‍🚀');
    const { before, after } = await settleOne(await newClaim(prisma), { settle: 'retry', error });
    expect(after).toMatchObject({ ...claimedOnce, state: 'pending', finishedAt: null, result: null });
    expect(after.runAt.getTime() - after.updatedAt.getTime()).toBe(before.retryDelayMs);
    expect(after.errors).toEqual([
      { ...error, attempt: 1, at: after.updatedAt.toISOString(), worker: 'worker-1' },
    ]);
  });

  test('bury: dead, with its error', async () => {
    const error = attemptError('discarded');
    const { before, after } = await settleOne(await newClaim(prisma), { settle: 'bury', error });
    expect(after).toMatchObject({ ...claimedOnce, state: 'dead', runAt: before.runAt, errors: [error] });
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test('cancel: cancelled, with its error', async () => {
    const error = attemptError('cancelled');
    const { before, after } = await settleOne(await newClaim(prisma), { settle: 'cancel', error });
    expect(after).toMatchObject({ ...claimedOnce, state: 'cancelled', runAt: before.runAt, errors: [error] });
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test.each([0, 90_000, 3_650 * 86_400_000])('snooze for %d ms: pending then, uncharged', async (delayMs) => {
    const { after } = await settleOne(await newClaim(prisma), { settle: 'snooze', delayMs });
    expect(after).toMatchObject({
      ...claimedOnce,
      state: 'pending',
      attempts: 0,
      errors: [],
      finishedAt: null,
    });
    expect(after.runAt.getTime() - after.updatedAt.getTime()).toBe(delayMs);
  });

  test('release: pending and due as before, uncharged', async () => {
    const { before, after } = await settleOne(await newClaim(prisma), { settle: 'release' });
    expect(after).toMatchObject({
      ...claimedOnce,
      state: 'pending',
      attempts: 0,
      errors: [],
      finishedAt: null,
    });
    expect(after.runAt).toEqual(before.runAt);
  });

  test('all kinds in one batch, each as its own', async () => {
    const settlements: Settlement[] = [
      { settle: 'complete', result: '1' },
      { settle: 'retry', error: attemptError('timeout') },
      { settle: 'complete', result: null },
      { settle: 'bury', error: attemptError('invalid_payload') },
      { settle: 'snooze', delayMs: 60_000 },
      { settle: 'release' },
      { settle: 'cancel', error: attemptError('cancelled') },
      { settle: 'complete', result: '{"a":[2]}' },
    ];
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, settlements.length);
    const claims = new Map((await claimOf(prisma, contract)).map((job) => [job.id, job]));
    const runs = settlements.flatMap((settlement, n) => {
      const job = claims.get(ids[n] ?? '');
      return job ? [settled(job, settlement)] : [];
    });
    expect(await settleRuns(prisma, runs)).toEqual({ lost: [], locked: [] });
    const rows = await Promise.all(ids.map((id) => row(id)));
    expect(rows).toMatchObject([
      { state: 'completed', result: 1 },
      { state: 'pending', attempts: 1, errors: [{ kind: 'timeout' }] },
      { state: 'completed', result: null },
      { state: 'dead', errors: [{ kind: 'invalid_payload' }] },
      { state: 'pending', attempts: 0, errors: [] },
      { state: 'pending', attempts: 0, errors: [] },
      { state: 'cancelled', errors: [{ kind: 'cancelled' }] },
      { state: 'completed', result: { a: [2] } },
    ]);
  });

  test('five hundred at once', async () => {
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, 1_000);
    const runs = (await claimOf(prisma, contract, 1_000)).map((job, n) =>
      n % 2 ? complete(job, JSON.stringify(job.id)) : failed(job, job.id),
    );
    expect(await settleRuns(prisma, runs)).toEqual({ lost: [], locked: [] });
    const rows = await prisma.jobQueue.findMany({ where: { id: { in: ids } } });
    for (const { id, state, result, errors } of rows) {
      expect(state === 'completed' ? [{ message: result }] : errors).toMatchObject([{ message: id }]);
    }
    expect(rows.filter(({ state }) => state === 'completed')).toHaveLength(500);
  });

  test('results that are many times as large once they are stored', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 750);
    const digits = JSON.stringify(Array.from({ length: 32_000 }, (_, n) => n % 10));
    const runs = (await claimOf(prisma, contract, 750)).map((job) => complete(job, digits));
    expect(runs).toHaveLength(750);
    expect(await settleRuns(prisma, runs)).toEqual({ lost: [], locked: [] });
    expect(await prisma.jobQueue.count({ where: { type: contract.type, state: 'completed' } })).toBe(750);
  }, 60_000);

  test('nothing to settle is nothing', async () => {
    expect(await settleRuns(prisma, [])).toEqual({ lost: [], locked: [] });
  });
});

describe('errors', () => {
  test('are appended over the attempts, and the last ten are kept', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 } });
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    for (let attempt = 1; attempt <= 13; attempt++) {
      await prisma.jobQueue.update({ where: { id }, data: { runAt: new Date(0) } });
      await settleRuns(prisma, [failed(only(await claimOf(prisma, contract)), `failure ${attempt}`)]);
      const { errors } = await row(id);
      const kept = (errors as { attempt: number; message: string }[]).map((error) => [
        error.attempt,
        error.message,
      ]);
      const first = Math.max(1, attempt - 9);
      expect(kept).toEqual(
        Array.from({ length: attempt - first + 1 }, (_, n) => [first + n, `failure ${first + n}`]),
      );
    }
  });

  test('stay when a later attempt completes', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 } });
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    await settleRuns(prisma, [failed(only(await claimOf(prisma, contract)))]);
    await prisma.jobQueue.update({ where: { id }, data: { runAt: new Date(0) } });
    await settleRuns(prisma, [complete(only(await claimOf(prisma, contract)))]);
    expect(await row(id)).toMatchObject({ state: 'completed', attempts: 2, errors: [{ attempt: 1 }] });
  });
});

describe('a cancellation that was asked for while the job ran', () => {
  const error = attemptError('failed');

  test.each<[Settlement, unknown[]]>([
    [{ settle: 'retry', error }, [error]],
    [{ settle: 'bury', error }, [error]],
    [{ settle: 'snooze', delayMs: 5 }, []],
    [{ settle: 'release' }, []],
  ])('wins over $settle', async (settlement, errors) => {
    const job = await newClaim(prisma);
    await cancel(prisma, job.id);
    const { after } = await settleOne(job, settlement);
    expect(after).toMatchObject({ state: 'cancelled', errors });
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test('loses to a completion', async () => {
    const job = await newClaim(prisma);
    await cancel(prisma, job.id);
    const { after } = await settleOne(job, { settle: 'complete', result: null });
    expect(after.state).toBe('completed');
  });
});
