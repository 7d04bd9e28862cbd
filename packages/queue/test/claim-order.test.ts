import { describe, expect, test } from 'vitest';
import { claimJobs, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, enqueueJobs, newContract, only, settled, wantedOf } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const idsOf = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

describe('the order', () => {
  test('is by level of priority, then by time, then by making', async () => {
    const contract = newContract();
    const one = async (priority: 'urgent' | 'high' | 'normal' | 'low', hours: number) =>
      only(await enqueueJobs(prisma, contract, 1, { priority, runAt: hoursAgo(hours) }));
    const low = await one('low', 9);
    const normalLate = await one('normal', 1);
    const normalEarly = await one('normal', 8);
    const urgent = await one('urgent', 1);
    const highLate = await one('high', 2);
    const highEarly = await one('high', 3);
    const runAt = hoursAgo(5);
    const alike = await enqueueJobs(prisma, contract, 5, { priority: 'normal', runAt });

    const order = [urgent, highEarly, highLate, normalEarly, ...alike, normalLate, low];
    const claimed: string[] = [];
    for (const capacity of [1, 3, 1, 2, 100])
      claimed.push(...idsOf(await claimOf(prisma, contract, capacity)));
    expect(claimed).toEqual(order);
  });

  test('is kept in one batch, down to the microsecond', async () => {
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, 12);
    for (const [index, id] of [...ids].reverse().entries()) {
      // 0, 100, 200 … µs: with and without trailing zeros.
      await prisma.$executeRaw`
        UPDATE "job_queue"
        SET "runAt" = timestamptz '2026-01-01 00:00:00.99999+00' + ${index}::int * interval '100 microseconds'
        WHERE "id" = ${id}::uuid`;
    }
    expect(idsOf(await claimOf(prisma, contract))).toEqual([...ids].reverse());
  });
});

describe('with more due than there is room', () => {
  test('types take turns, whatever their order in the list', async () => {
    const busy = newContract();
    const quiet = newContract();
    const rare = newContract();
    await enqueueJobs(prisma, busy, 200, { priority: 'urgent', runAt: hoursAgo(9) });
    await enqueueJobs(prisma, quiet, 20, { priority: 'low' });
    await enqueueJobs(prisma, rare, 1, { priority: 'low' });
    for (const wanted of [
      [busy, quiet, rare],
      [rare, quiet, busy],
    ]) {
      const jobs = await claimJobs(prisma, {
        workerId: 'w',
        wanted: wanted.map((contract) => wantedOf(contract)),
        capacity: 11,
      });
      const took = (type: string) => jobs.filter((job) => job.type === type).length;
      expect([took(rare.type), took(busy.type), took(quiet.type)]).toEqual([1, 5, 5]);
      await settleRuns(
        prisma,
        jobs.map((job) => settled(job, { settle: 'release' })),
      );
    }
  });

  test('a claim for more than a thousand is for a thousand, dealt out in the same way', async () => {
    const contracts = [newContract(), newContract()];
    for (const contract of contracts) await enqueueJobs(prisma, contract, 1_000);
    const jobs = await claimJobs(prisma, {
      workerId: 'w',
      wanted: contracts.map((contract) => wantedOf(contract, 1_000)),
      capacity: 3_000,
    });
    const took = contracts.map(({ type }) => jobs.filter((job) => job.type === type).length);
    expect(took).toEqual([500, 500]);
  });

  test('a lone slot falls to each type sooner or later', async () => {
    const contracts = [newContract(), newContract(), newContract()];
    for (const contract of contracts) await enqueueJobs(prisma, contract, 1);
    const seen = new Set<string>();
    for (let round = 0; round < 100 && seen.size < 3; round++) {
      const job = only(
        await claimJobs(prisma, {
          workerId: 'w',
          wanted: contracts.map((contract) => wantedOf(contract)),
          capacity: 1,
        }),
      );
      seen.add(job.type);
      await settleRuns(prisma, [settled(job, { settle: 'release' })]);
    }
    expect(seen.size).toBe(3);
  });

  test('a lone slot falls to the better level, whatever the type', async () => {
    const urgent = newContract();
    const low = newContract();
    await enqueueJobs(prisma, urgent, 20, { priority: 'urgent' });
    await enqueueJobs(prisma, low, 20, { priority: 'low', runAt: hoursAgo(9) });
    const wanted = [wantedOf(low), wantedOf(urgent)];
    for (let round = 0; round < 20; round++) {
      const job = only(await claimJobs(prisma, { workerId: 'w', wanted, capacity: 1 }));
      expect(job.type).toBe(urgent.type);
    }
  });

  test('what one claim leaves is there for another at the same moment', async () => {
    const contracts = [newContract(), newContract(), newContract()];
    for (const contract of contracts) await enqueueJobs(prisma, contract, 1);
    const wanted = contracts.map((contract) => wantedOf(contract));
    await prisma.$transaction(async (tx) => {
      expect(await claimJobs(tx, { workerId: 'w', wanted, capacity: 1 })).toHaveLength(1);
      expect(await claimJobs(prisma, { workerId: 'w', wanted, capacity: 10 })).toHaveLength(2);
    });
  });

  test('no type gets more than its slots', async () => {
    const one = newContract();
    const two = newContract();
    await enqueueJobs(prisma, one, 10);
    await enqueueJobs(prisma, two, 10);
    const jobs = await claimJobs(prisma, {
      workerId: 'w',
      wanted: [wantedOf(one, 2), wantedOf(two, 100)],
      capacity: 100,
    });
    expect(jobs.filter(({ type }) => type === one.type)).toHaveLength(2);
    expect(jobs.filter(({ type }) => type === two.type)).toHaveLength(10);
  });

  test('each type has its own lease and delays', async () => {
    const short = newContract({ lease: '5s', retry: { base: '1s', max: '1s' } });
    const long = newContract({ lease: '1h', retry: { base: '1d', max: '1d' } });
    await enqueueJobs(prisma, short, 1);
    await enqueueJobs(prisma, long, 1);
    const jobs = await claimJobs(prisma, {
      workerId: 'w',
      wanted: [wantedOf(short), wantedOf(long)],
      capacity: 10,
    });
    for (const job of jobs) {
      const { lockUntil, claimedAt, retryDelayMs } = await row(job.id);
      const leaseMs = (lockUntil?.getTime() ?? 0) - (claimedAt?.getTime() ?? 0);
      const contract = job.type === short.type ? short : long;
      expect(leaseMs).toBe(contract.leaseMs);
      expect(retryDelayMs).toBeGreaterThanOrEqual(contract.retry.baseMs / 2);
      expect(retryDelayMs).toBeLessThanOrEqual(contract.retry.baseMs);
    }
  });
});
