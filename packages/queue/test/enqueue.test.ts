import { describe, expect, test } from 'vitest';
import { enqueue, findJob, InvalidOptionError } from '../src/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { enqueueJobs, newContract, only } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

const count = (type: string) => prisma.jobQueue.count({ where: { type } });
const now = async () => only(await prisma.$queryRaw<{ now: Date }[]>`SELECT now() AS "now"`).now.getTime();

describe('a transaction', () => {
  test('that commits makes the job, whose id its caller knew before', async () => {
    const contract = newContract();
    const id = await prisma.$transaction(async (tx) => {
      const outcome = await enqueue(tx, contract, { n: 1 });
      expect(outcome.outcome).toBe('created');
      expect(await count(contract.type)).toBe(0);
      return outcome.id;
    });
    expect(await findJob(prisma, id)).toMatchObject({
      type: contract.type,
      payload: { n: 1 },
      state: 'pending',
    });
  });

  test('that is rolled back leaves nothing', async () => {
    const contract = newContract();
    const rollback = new Error('rolled back');
    const transaction = prisma.$transaction(async (tx) => {
      await enqueue(tx, contract, { n: 1 });
      await enqueueJobs(tx, contract, 3);
      throw rollback;
    });
    await expect(transaction).rejects.toBe(rollback);
    expect(await count(contract.type)).toBe(0);
  });

  test('is not needed', async () => {
    const contract = newContract();
    const { outcome, id } = await enqueue(prisma, contract, { n: 1 });
    expect(outcome).toBe('created');
    expect(await row(id)).toMatchObject({ payload: { n: 1 } });
  });
});

describe('the row', () => {
  test('has the contract’s limits and the defaults', async () => {
    const contract = newContract({ maxAttempts: 7, maxCrashes: 2 });
    const { id } = await enqueue(prisma, contract, { n: 1 });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await row(id)).toMatchObject({
      state: 'pending',
      priority: 2,
      attempts: 0,
      maxAttempts: 7,
      claims: 0,
      crashes: 0,
      maxCrashes: 2,
      ...{
        claimToken: null,
        lockUntil: null,
        claimedBy: null,
        claimedAt: null,
        retryDelayMs: null,
      },
      ...{
        progress: null,
        result: null,
        errors: [],
        dedupeKey: null,
        concurrencyKey: null,
      },
      ...{
        cancelRequestedAt: null,
        trace: null,
        finishedAt: null,
      },
    });
  });

  test.each([
    ['urgent', 0],
    ['high', 1],
    ['normal', 2],
    ['low', 3],
  ] as const)('has priority %s as %d', async (priority, level) => {
    const { id } = await enqueue(prisma, newContract(), 1, { priority });
    expect((await row(id)).priority).toBe(level);
  });

  test('is due at the instant that was named, to the millisecond', async () => {
    for (const runAt of [new Date(0), new Date('2031-03-30T02:30:00.123Z'), new Date(Date.UTC(2200, 0, 1))]) {
      const { id } = await enqueue(prisma, newContract(), 1, { runAt });
      expect((await row(id)).runAt).toEqual(runAt);
    }
  });

  test('is due after a delay by the database’s clock, or at once', async () => {
    const before = await now();
    const { id: later } = await enqueue(prisma, newContract(), 1, { delay: '90m' });
    const { id: soon } = await enqueue(prisma, newContract(), 1);
    const after = await now();
    const laterMs = (await row(later)).runAt.getTime() - 90 * 60_000;
    const soonMs = (await row(soon)).runAt.getTime();
    for (const ms of [laterMs, soonMs]) {
      expect(ms).toBeGreaterThanOrEqual(before - 1);
      expect(ms).toBeLessThanOrEqual(after + 1);
    }
  });
});

describe('options', () => {
  test.each([
    ['runAt', { runAt: new Date(Number.NaN) }],
    ['runAt', { runAt: new Date(-1) }],
    ['runAt', { runAt: new Date(Date.UTC(2200, 0, 1) + 1) }],
    ['runAt', { runAt: '2026-01-01' }],
    ['runAt', { runAt: null }],
    ['delay', { delay: '5 minutes' }],
    ['delay', { delay: -1 }],
    ['delay', { delay: '3651d' }],
    ['delay', { delay: '1m', runAt: new Date() }],
    ['priority', { priority: 'top' }],
    ['priority', { priority: 0 }],
    ['priority', { priority: 'toString' }],
    ['dedupeKey', { dedupeKey: '' }],
    ['dedupeKey', { dedupeKey: 'a\0' }],
    ['dedupeKey', { dedupeKey: '\ud83d' }],
    ['dedupeKey', { dedupeKey: 'é'.repeat(257) }],
    ['dedupeKey', { dedupeKey: 7 }],
    ['options.dedupkey', { dedupkey: 'misspelled' }],
    ['options.maxAttempts', { maxAttempts: 3 }],
  ])('%s is refused in %j', async (field, options) => {
    const contract = newContract();
    const enqueuing = enqueue(prisma, contract, 1, options as object);
    await expect(enqueuing).rejects.toThrow(InvalidOptionError);
    await expect(enqueuing).rejects.toMatchObject({ field });
    expect(await count(contract.type)).toBe(0);
  });

  test('are an object, and what comes before them a client and a contract', async () => {
    const call = enqueue as (...args: unknown[]) => Promise<unknown>;
    const contract = newContract();
    await expect(call(contract, 1)).rejects.toMatchObject({ code: 'INVALID_OPTION', field: 'client' });
    await expect(call(prisma, { type: 'x' }, 1)).rejects.toMatchObject({ field: 'contract' });
    await expect(call(prisma, contract, 1, null)).rejects.toMatchObject({ field: 'options' });
    const noDate: unknown = Object.create(Date.prototype);
    await expect(call(prisma, contract, 1, { runAt: noDate })).rejects.toMatchObject({ field: 'runAt' });
    expect(await count(contract.type)).toBe(0);
  });

  test('may be at their bounds', async () => {
    const contract = newContract();
    await enqueue(prisma, contract, 1, { dedupeKey: 'é'.repeat(256), delay: '3650d' });
    expect(await count(contract.type)).toBe(1);
  });
});
