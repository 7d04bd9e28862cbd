import { waitFor } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';
import { cancel, enqueue, enqueueMany, type EnqueueOutcome } from '../src/index.ts';
import { settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { attemptError, claimOf, complete, newContract, only, settled } from './fixtures/jobs.ts';

const { prisma, newPrisma, row, isWaiting } = await openDatabase();

const outcomesOf = (outcomes: readonly EnqueueOutcome[]) => outcomes.map(({ outcome }) => outcome);

describe('while a job with the key is unfinished', () => {
  test('no second one is made, and the outcome names the first', async () => {
    const contract = newContract();
    const first = await enqueue(prisma, contract, { n: 1 }, { dedupeKey: 'k' });
    expect(await enqueue(prisma, contract, { n: 2 }, { dedupeKey: 'k' })).toEqual({
      outcome: 'deduplicated',
      id: first.id,
    });
    await claimOf(prisma, contract);
    expect(await enqueue(prisma, contract, { n: 3 }, { dedupeKey: 'k' })).toEqual({
      outcome: 'deduplicated',
      id: first.id,
    });
    expect((await row(first.id)).payload).toEqual({ n: 1 });
  });

  test('the outcome names that one, and none of those that had the key before', async () => {
    const contract = newContract();
    const { id: earlier } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await cancel(prisma, earlier);
    const { id: current } = await enqueue(prisma, contract, 2, { dedupeKey: 'k' });
    // Written last, so that it is also read last.
    await prisma.jobQueue.update({ where: { id: earlier }, data: { progress: 1 } });
    expect(await enqueue(prisma, contract, 3, { dedupeKey: 'k' })).toEqual({
      outcome: 'deduplicated',
      id: current,
    });
  });

  test('another type or another key is another job', async () => {
    const contract = newContract();
    await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    expect(await enqueue(prisma, newContract(), 1, { dedupeKey: 'k' })).toMatchObject({ outcome: 'created' });
    expect(await enqueue(prisma, contract, 1, { dedupeKey: 'K' })).toMatchObject({ outcome: 'created' });
    expect(await enqueue(prisma, contract, 1)).toMatchObject({ outcome: 'created' });
  });

  test('a transaction meets its own job', async () => {
    const contract = newContract();
    await prisma.$transaction(async (tx) => {
      const first = await enqueue(tx, contract, 1, { dedupeKey: 'k' });
      expect(await enqueue(tx, contract, 2, { dedupeKey: 'k' })).toEqual({
        outcome: 'deduplicated',
        id: first.id,
      });
    });
  });

  test('twenty enqueues at once make one job, and all learn its id', async () => {
    const contract = newContract();
    const other = newPrisma();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        enqueue(n % 2 ? other : prisma, contract, { n }, { dedupeKey: 'k' }),
      ),
    );
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(1);
    expect(outcomesOf(outcomes).filter((outcome) => outcome === 'created')).toHaveLength(1);
    expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(1);
  });

  test('an enqueue waits for the transaction that inserts the same key, and learns the id that it committed', async () => {
    const contract = newContract();
    let waiting: Promise<EnqueueOutcome> | undefined;
    const { id } = await prisma.$transaction(async (tx) => {
      const first = await enqueue(tx, contract, 1, { dedupeKey: 'k' });
      waiting = enqueue(prisma, contract, 2, { dedupeKey: 'k' });
      await waitFor(isWaiting);
      return first;
    });
    expect(await waiting).toEqual({ outcome: 'deduplicated', id });
  });

  test('an enqueue waits for the transaction that inserts the same key, and makes the job if that one fails', async () => {
    const contract = newContract();
    let waiting: Promise<EnqueueOutcome> | undefined;
    const transaction = prisma.$transaction(async (tx) => {
      await enqueue(tx, contract, 1, { dedupeKey: 'k' });
      waiting = enqueue(prisma, contract, 2, { dedupeKey: 'k' });
      await waitFor(isWaiting);
      throw new Error('rolled back');
    });
    await expect(transaction).rejects.toThrow('rolled back');
    expect(await waiting).toMatchObject({ outcome: 'created' });
    expect(await prisma.jobQueue.findMany({ where: { type: contract.type } })).toMatchObject([
      { payload: 2 },
    ]);
  });
});

describe('the key is free again when its job has', () => {
  test('completed', async () => {
    const contract = newContract();
    await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await settleRuns(prisma, [complete(only(await claimOf(prisma, contract)))]);
    expect(await enqueue(prisma, contract, 2, { dedupeKey: 'k' })).toMatchObject({ outcome: 'created' });
  });

  test('died', async () => {
    const contract = newContract();
    await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    const job = only(await claimOf(prisma, contract));
    await settleRuns(prisma, [settled(job, { settle: 'bury', error: attemptError('discarded') })]);
    expect(await enqueue(prisma, contract, 2, { dedupeKey: 'k' })).toMatchObject({ outcome: 'created' });
  });

  test('been cancelled', async () => {
    const contract = newContract();
    const { id } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await cancel(prisma, id);
    expect(await enqueue(prisma, contract, 2, { dedupeKey: 'k' })).toMatchObject({ outcome: 'created' });
  });

  test('but not when it waits for its next attempt', async () => {
    const contract = newContract();
    const { id } = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    const job = only(await claimOf(prisma, contract));
    await settleRuns(prisma, [settled(job, { settle: 'retry', error: attemptError('failed') })]);
    expect(await enqueue(prisma, contract, 2, { dedupeKey: 'k' })).toEqual({ outcome: 'deduplicated', id });
  });
});

describe('in one batch', () => {
  test('the first item of a key makes the job, and the others are its duplicates', async () => {
    const contract = newContract();
    const [held] = await enqueueMany(prisma, contract, [{ payload: 'held', dedupeKey: 'held' }]);
    const outcomes = await enqueueMany(prisma, contract, [
      { payload: 0, dedupeKey: 'b' },
      { payload: 1 },
      { payload: 2, dedupeKey: 'a' },
      { payload: 3, dedupeKey: 'b' },
      { payload: 4, dedupeKey: 'held' },
      { payload: 5 },
      { payload: 6, dedupeKey: 'a' },
    ]);
    expect(outcomesOf(outcomes)).toEqual([
      'created',
      'created',
      'created',
      'deduplicated',
      'deduplicated',
      'created',
      'deduplicated',
    ]);
    expect(outcomes[3]?.id).toBe(outcomes[0]?.id);
    expect(outcomes[4]?.id).toBe(held?.id);
    expect(outcomes[6]?.id).toBe(outcomes[2]?.id);
    const rows = await prisma.jobQueue.findMany({ where: { type: contract.type }, orderBy: { id: 'asc' } });
    expect(rows.map(({ payload }) => payload)).toEqual(['held', 0, 1, 2, 5]);
  });

  test('two transactions that insert the same keys in opposite orders do not deadlock', async () => {
    const contract = newContract();
    const [first, middle, last] = ['a', 'b', 'c'].map((key) => ({ payload: key, dedupeKey: key }));
    const orders = [
      [first!, middle!, last!],
      [last!, middle!, first!],
    ];
    let inserting: Promise<EnqueueOutcome[][]> | undefined;
    const rolledBack = prisma.$transaction(async (tx) => {
      // So that either batch has come half-way before the other goes on, were they in their own orders.
      await enqueue(tx, contract, 'b', { dedupeKey: 'b' });
      inserting = Promise.all(
        orders.map((order) => newPrisma().$transaction((own) => enqueueMany(own, contract, order))),
      );
      await waitFor(() => isWaiting(2));
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    const [ids, others] = (await inserting!).map((outcomes) => outcomes.map(({ id }) => id));
    expect(ids).toEqual(others?.toReversed());
    expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(3);
  });
});

test('a key that comes and goes all the time ends in one outcome for each enqueue', async () => {
  const contract = newContract();
  const worker = newPrisma();
  const enqueuing = new AbortController();
  const working = (async () => {
    while (!enqueuing.signal.aborted)
      await settleRuns(
        worker,
        (await claimOf(worker, contract)).map((job) => complete(job)),
      );
  })();
  const ids = new Set<string>();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 25; n++) ids.add((await enqueue(prisma, contract, n, { dedupeKey: 'k' })).id);
    }),
  );
  enqueuing.abort();
  await working;
  expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(ids.size);
});
