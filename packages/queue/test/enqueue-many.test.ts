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

  test('each item has options of its own', async () => {
    const contract = newContract();
    const runAt = new Date('2030-01-01T00:00:00.000Z');
    const outcomes = await enqueueMany(prisma, contract, [
      { payload: 0 },
      { payload: 1, priority: 'urgent', runAt },
      { payload: 2, priority: 'low', delay: '1d', dedupeKey: 'k' },
    ]);
    const rows = await prisma.jobQueue.findMany({ where: { type: contract.type }, orderBy: { id: 'asc' } });
    expect(rows.map(({ id }) => id)).toEqual(outcomes.map(({ id }) => id));
    expect(rows).toMatchObject([
      { payload: 0, priority: 2, dedupeKey: null },
      { payload: 1, priority: 0, runAt },
      { payload: 2, priority: 3, dedupeKey: 'k' },
    ]);
  });

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
