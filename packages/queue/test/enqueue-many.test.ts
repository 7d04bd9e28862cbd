import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, enqueueMany } from '../src/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { newContract } from './fixtures/jobs.ts';

const { prisma } = await openDatabase();

describe('enqueueMany', () => {
  test('10,000 jobs in one statement, outcomes in the order of the items', async () => {
    const contract = newContract();
    const items = Array.from({ length: 10_000 }, (_, n) => ({ payload: { n } }));
    const outcomes = await enqueueMany(prisma, contract, items);
    const rows = await prisma.jobQueue.findMany({
      where: { type: contract.type },
      select: { id: true, payload: true },
    });
    const payloads = new Map(rows.map(({ id, payload }) => [id, payload]));
    expect(outcomes.map(({ id }) => payloads.get(id))).toEqual(items.map(({ payload }) => payload));
    expect(outcomes.every(({ outcome }) => outcome === 'created')).toBe(true);
    const ids = outcomes.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort());
  });

  test('no more than 10,000', async () => {
    const items = Array.from({ length: 10_001 }, () => ({ payload: 1 }));
    await expect(enqueueMany(prisma, newContract(), items)).rejects.toThrow(
      'items.length: expected at most 10000, found 10001',
    );
  });

  test('none is nothing', async () => {
    expect(await enqueueMany(prisma, newContract(), [])).toEqual([]);
  });

  // They are two statements.
  test.each([null, 'k'])('each item has options of its own, one of them the key %s', async (dedupeKey) => {
    const contract = newContract({ maxAttempts: 7, maxCrashes: 2 });
    const runAt = new Date('2030-01-01T00:00:00.123Z');
    const outcomes = await enqueueMany(prisma, contract, [
      { payload: 0 },
      { payload: 1, priority: 'urgent', runAt },
      { payload: 2, priority: 'low', delay: '1d', ...(dedupeKey !== null && { dedupeKey }) },
    ]);
    const rows = await prisma.jobQueue.findMany({ where: { type: contract.type }, orderBy: { id: 'asc' } });
    expect(rows.map(({ id }) => id)).toEqual(outcomes.map(({ id }) => id));
    const limits = { maxAttempts: 7, maxCrashes: 2 };
    expect(rows).toMatchObject([
      { payload: 0, priority: 2, dedupeKey: null, runAt: rows[0]!.createdAt, ...limits },
      { payload: 1, priority: 0, dedupeKey: null, runAt, ...limits },
      { payload: 2, priority: 3, dedupeKey, ...limits },
    ]);
    expect(rows[2]!.runAt.getTime() - rows[2]!.createdAt.getTime()).toBe(86_400_000);
  });

  test('64 MiB of payloads may take many times as much once they are stored', async () => {
    const contract = newContract();
    const digits = Array.from({ length: 131_000 }, (_, n) => n % 10);
    const outcomes = await enqueueMany(
      prisma,
      contract,
      Array.from({ length: 200 }, () => ({ payload: digits })),
    );
    expect(outcomes).toHaveLength(200);
    expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(200);
  }, 60_000);

  test('one bad item, and nothing is written', async () => {
    const contract = defineJob({ type: 'test.many.bad', payload: z.object({ n: z.number() }) });
    const items = [{ payload: { n: 1 } }, { payload: { n: 2 }, delay: -1 }, { payload: { n: 3 } }];
    await expect(enqueueMany(prisma, contract, items)).rejects.toMatchObject({ field: 'items[1].delay' });
    await expect(
      enqueueMany(prisma, contract, [{ payload: { n: 1 } }, { payload: { n: NaN } }]),
    ).rejects.toThrow('n: is NaN');
    expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(0);
  });
});
