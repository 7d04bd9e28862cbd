import { waitFor } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';
import { cancel, enqueue, InvalidOptionError, retry, type RetryOutcome } from '../src/index.ts';
import { settleRuns } from '../src/protocol.ts';
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

const { prisma, newPrisma, row, isWaiting } = await openDatabase();

const nobody = '01a22acf-4ea4-7151-bc43-831552cb7b85';

describe('cancel', () => {
  test('a pending job is cancelled, also one for later, and nobody claims it', async () => {
    const contract = newContract();
    const ids = [
      ...(await enqueueJobs(prisma, contract, 1)),
      ...(await enqueueJobs(prisma, contract, 1, { delay: '1d' })),
    ];
    for (const id of ids) {
      expect(await cancel(prisma, id)).toEqual({ outcome: 'cancelled' });
      const after = await row(id);
      expect(after).toMatchObject({ state: 'cancelled', attempts: 0, errors: [] });
      expect([after.finishedAt, after.cancelRequestedAt]).toEqual([after.updatedAt, after.updatedAt]);
    }
    expect(await claimOf(prisma, contract)).toEqual([]);
  });

  test('a running job is asked for, from any process, and its claim stands', async () => {
    const job = await newClaim(prisma);
    const before = await row(job.id);
    expect(await cancel(newPrisma(1), job.id)).toEqual({ outcome: 'requested' });
    const asked = await row(job.id);
    expect(asked).toEqual({ ...before, cancelRequestedAt: asked.updatedAt, updatedAt: asked.updatedAt });
    expect(await cancel(prisma, job.id)).toEqual({ outcome: 'requested' });
    expect((await row(job.id)).cancelRequestedAt).toEqual(asked.cancelRequestedAt);
  });

  test('a finished job stays as it is', async () => {
    const completed = await newClaim(prisma);
    const dead = await newClaim(prisma);
    const { id: cancelled } = await enqueue(prisma, newContract(), 1);
    await settleRuns(prisma, [complete(completed)]);
    await settleRuns(prisma, [settled(dead, { settle: 'bury', error: attemptError('discarded') })]);
    await cancel(prisma, cancelled);
    for (const [id, state] of [
      [completed.id, 'completed'],
      [dead.id, 'dead'],
      [cancelled, 'cancelled'],
    ] as const) {
      const before = await row(id);
      expect(await cancel(prisma, id)).toEqual({ outcome: 'already_finished', state });
      expect(await row(id)).toEqual(before);
    }
  });

  test('there is no such job', async () => {
    expect(await cancel(prisma, nobody)).toEqual({ outcome: 'not_found' });
    await expect(cancel(prisma, 'job-7')).rejects.toThrow(InvalidOptionError);
  });

  test('works in a transaction, and goes back with it', async () => {
    const { id } = await enqueue(prisma, newContract(), 1);
    const transaction = prisma.$transaction(async (tx) => {
      expect(await cancel(tx, id)).toEqual({ outcome: 'cancelled' });
      throw new Error('rolled back');
    });
    await expect(transaction).rejects.toThrow('rolled back');
    expect((await row(id)).state).toBe('pending');
  });

  test('and a claim at the same moment: the job is cancelled, or runs and has been asked to stop', async () => {
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, 100);
    const claiming = Promise.all(Array.from({ length: 20 }, () => claimOf(prisma, contract, 5)));
    const outcomes = await Promise.all(ids.map(async (id) => ({ id, ...(await cancel(prisma, id)) })));
    const claimed = new Set((await claiming).flat().map(({ id }) => id));
    for (const { id, outcome } of outcomes) {
      const { state, cancelRequestedAt } = await row(id);
      const found = { outcome, state, claimed: claimed.has(id), asked: cancelRequestedAt !== null };
      expect([
        { outcome: 'cancelled', state: 'cancelled', claimed: false, asked: true },
        { outcome: 'requested', state: 'running', claimed: true, asked: true },
        { outcome: 'busy', state: 'running', claimed: true, asked: false },
        { outcome: 'busy', state: 'pending', claimed: false, asked: false },
      ]).toContainEqual(found);
    }
  });
});

describe('retry', () => {
  test.each(['complete', 'bury', 'cancel'] as const)(
    'gives another life to a job that ended with %s',
    async (settle) => {
      const contract = newContract({ maxAttempts: 5, retry: { base: 1, max: 1 } });
      const [id = ''] = await enqueueJobs(prisma, contract, 1, { dedupeKey: 'k' });
      await settleRuns(prisma, [failed(only(await claimOf(prisma, contract)))]);
      await prisma.jobQueue.update({
        where: { id },
        data: { runAt: new Date(0), crashes: 2, progress: { at: 7 } },
      });
      const job = only(await claimOf(prisma, contract));
      const last =
        settle === 'complete' ? complete(job, '1') : settled(job, { settle, error: attemptError('failed') });
      await settleRuns(prisma, [last]);
      const ended = await row(id);

      expect(await retry(prisma, id)).toEqual({ outcome: 'retried' });
      const again = await row(id);
      expect(again).toMatchObject({
        state: 'pending',
        attempts: 0,
        crashes: 0,
        claims: 2,
        finishedAt: null,
        result: null,
        ...{
          cancelRequestedAt: null,
          progress: { at: 7 },
          errors: ended.errors,
          dedupeKey: 'k',
        },
      });
      expect(again.runAt).toEqual(again.updatedAt);
      expect(only(await claimOf(prisma, contract))).toMatchObject({
        id,
        attempts: 1,
        claims: 3,
        progress: { at: 7 },
      });
    },
  );

  test('forgets a cancellation, so that the next life is not cancelled as well', async () => {
    const contract = newContract();
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    await cancel(prisma, id);
    await retry(prisma, id);
    await settleRuns(prisma, [failed(only(await claimOf(prisma, contract)))]);
    expect((await row(id)).state).toBe('pending');
  });

  test('of a job that has not finished changes nothing', async () => {
    const { id: pending } = await enqueue(prisma, newContract(), 1);
    const { id: running } = await newClaim(prisma);
    for (const [id, state] of [
      [pending, 'pending'],
      [running, 'running'],
    ] as const) {
      const before = await row(id);
      expect(await retry(prisma, id)).toEqual({ outcome: 'not_finished', state });
      expect(await row(id)).toEqual(before);
    }
  });

  test('of a job whose key another unfinished job has names that one', async () => {
    const contract = newContract();
    const { id: first } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await cancel(prisma, first);
    const { id: second } = await enqueue(prisma, contract, 2, { dedupeKey: 'k' });
    expect(await retry(prisma, first)).toEqual({ outcome: 'duplicate', id: second });
    await claimOf(prisma, contract);
    expect(await retry(prisma, first)).toEqual({ outcome: 'duplicate', id: second });
    expect((await row(first)).state).toBe('cancelled');
    await cancel(prisma, second);
    await prisma.jobQueue.delete({ where: { id: second } });
    expect(await retry(prisma, first)).toEqual({ outcome: 'retried' });
  });

  test('at the same moment as an enqueue with its key leaves one unfinished job', async () => {
    for (let round = 0; round < 20; round++) {
      const contract = newContract();
      const { id } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
      await cancel(prisma, id);
      const [retried, enqueued] = await Promise.all([
        retry(prisma, id),
        enqueue(prisma, contract, 2, { dedupeKey: 'k' }),
      ]);
      const unfinished = await prisma.jobQueue.findMany({ where: { type: contract.type, state: 'pending' } });
      const winner = only(unfinished).id;
      expect([retried.outcome, enqueued.outcome]).toEqual(
        winner === id ? ['retried', 'deduplicated'] : ['duplicate', 'created'],
      );
      expect(enqueued.id).toBe(winner);
    }
  });

  test.each(['commits', 'rolls back'])(
    'waits for a transaction that is inserting its key, which %s',
    async (end) => {
      const contract = newContract();
      const { id } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
      await cancel(prisma, id);
      let retrying: Promise<RetryOutcome> | undefined;
      const transaction = prisma.$transaction(async (tx) => {
        await enqueue(tx, contract, 2, { dedupeKey: 'k' });
        retrying = retry(prisma, id);
        await waitFor(isWaiting);
        if (end === 'rolls back') throw new Error(end);
      });
      await transaction.catch(() => {});
      expect(await retrying).toEqual(
        end === 'commits' ? { outcome: 'duplicate', id: null } : { outcome: 'retried' },
      );
    },
  );

  test('there is no such job', async () => {
    expect(await retry(prisma, nobody)).toEqual({ outcome: 'not_found' });
    await expect(retry(prisma, '')).rejects.toThrow('id: expected a UUID, found ""');
  });
});
