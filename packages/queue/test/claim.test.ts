import { describe, expect, test } from 'vitest';
import { claimJobs, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  claimOf,
  complete,
  enqueueJobs,
  failed,
  newClaim,
  newContract,
  only,
  settled,
  wantedOf,
} from './fixtures/jobs.ts';

const { prisma, row, lock } = await openDatabase();

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const idsOf = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

describe('a claim', () => {
  test('moves the row to running and says everything that a stranger needs', async () => {
    const contract = newContract({ lease: '20s', retry: { base: '10s', max: '10s' } });
    const [id = ''] = await enqueueJobs(prisma, contract, 1, { dedupeKey: 'k', priority: 'high' });
    const job = only(await claimOf(prisma, contract));
    const found = await row(id);
    expect(found).toMatchObject({
      state: 'running',
      attempts: 1,
      claims: 1,
      crashes: 0,
      claimedBy: 'worker-1',
      finishedAt: null,
      claimToken: job.claimToken,
      updatedAt: found.claimedAt,
    });
    const claimedAt = found.claimedAt?.getTime() ?? 0;
    expect((found.lockUntil?.getTime() ?? 0) - claimedAt).toBe(20_000);
    expect(found.retryDelayMs).toBeGreaterThanOrEqual(5_000);
    expect(found.retryDelayMs).toBeLessThanOrEqual(10_000);
  });

  test('brings back the row as it left it', async () => {
    const contract = newContract({ maxAttempts: 7 });
    const [id = ''] = await enqueueJobs(prisma, contract, 1, { dedupeKey: 'k', priority: 'high' });
    await prisma.jobQueue.update({
      where: { id },
      data: { crashes: 2, progress: { at: 3 }, trace: { traceparent: '00-a-b-01' }, runAt: hoursAgo(1) },
    });
    const job = only(await claimOf(prisma, contract));
    const found = await row(id);
    expect(job).toEqual({
      id,
      type: contract.type,
      payload: { n: 0 },
      priority: 1,
      dedupeKey: 'k',
      claimToken: found.claimToken,
      ...{
        attempts: 1,
        maxAttempts: 7,
        claims: 1,
        crashes: 2,
      },
      ...{
        progress: { at: 3 },
        trace: { traceparent: '00-a-b-01' },
      },
      ...{
        runAt: expect.any(String) as string,
        createdAt: expect.any(String) as string,
      },
      ...{
        claimedAt: expect.any(String) as string,
        waitedMs: expect.any(Number) as number,
      },
    });
    expect(new Date(job.runAt)).toEqual(found.runAt);
    expect(new Date(job.createdAt)).toEqual(found.createdAt);
    expect(new Date(job.claimedAt)).toEqual(found.claimedAt);
    expect(job.waitedMs).toBeGreaterThan(3_600_000);
    expect(job.waitedMs).toBeLessThan(3_660_000);
  });

  test('tells of each job what it alone has', async () => {
    const contract = newContract();
    const [, id = ''] = await enqueueJobs(prisma, contract, 3);
    const data = { dedupeKey: 'k', crashes: 1, progress: 7, trace: {}, createdAt: hoursAgo(1) };
    await prisma.jobQueue.update({ where: { id }, data });
    const jobs = await claimOf(prisma, contract);
    expect(jobs).toHaveLength(3);
    for (const job of jobs) {
      const isIt = job.id === id;
      expect(job).toMatchObject({
        dedupeKey: isIt ? 'k' : null,
        crashes: isIt ? 1 : 0,
        progress: isIt ? 7 : null,
        trace: isIt ? {} : null,
      });
      expect(new Date(job.createdAt)).toEqual((await row(job.id)).createdAt);
      expect(job.createdAt === job.runAt).toBe(!isIt);
    }
  });

  test('of a job from before the first year, which no Date can be, tells no wait', async () => {
    const contract = newContract();
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    await prisma.$executeRaw`UPDATE "job_queue" SET "runAt" = '0044-03-15 BC' WHERE "id" = ${id}::uuid`;
    expect(only(await claimOf(prisma, contract)).waitedMs).toBe(0);
  });

  test('has a token that no other claim has, one for all of its jobs', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 50);
    const first = await claimOf(prisma, contract);
    await settleRuns(
      prisma,
      first.map((job) => settled(job, { settle: 'release' })),
    );
    const second = await claimOf(prisma, contract);
    expect(idsOf(second).sort()).toEqual(idsOf(first).sort());
    const tokensOf = (jobs: typeof first) => new Set(jobs.map(({ claimToken }) => claimToken));
    expect(tokensOf(first).size).toBe(1);
    expect(tokensOf(second).size).toBe(1);
    expect(tokensOf([...first, ...second]).size).toBe(2);
  });

  test('counts attempts and claims', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 } });
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    const counts: number[][] = [];
    for (const settlement of ['retry', 'release', 'retry', 'snooze'] as const) {
      await prisma.jobQueue.update({ where: { id }, data: { runAt: hoursAgo(1) } });
      const job = only(await claimOf(prisma, contract));
      counts.push([job.attempts, job.claims]);
      if (settlement === 'retry') await settleRuns(prisma, [failed(job)]);
      if (settlement === 'release') await settleRuns(prisma, [settled(job, { settle: 'release' })]);
      if (settlement === 'snooze') await settleRuns(prisma, [settled(job, { settle: 'snooze', delayMs: 0 })]);
    }
    expect(counts).toEqual([
      [1, 1],
      [2, 2],
      [2, 3],
      [3, 4],
    ]);
    expect(await row(id)).toMatchObject({ attempts: 2, claims: 4 });
  });

  test('takes nothing that is not due, not pending, or of a type nobody asked for', async () => {
    const contract = newContract();
    const other = newContract();
    await enqueueJobs(prisma, contract, 1, { delay: '1s' });
    await enqueueJobs(prisma, other, 1);
    const running = await newClaim(prisma, contract);
    const done = await newClaim(prisma, contract);
    await settleRuns(prisma, [complete(done)]);
    expect(await claimOf(prisma, contract)).toEqual([]);
    expect(await row(running.id)).toMatchObject({ claimToken: running.claimToken, claims: 1 });
    expect(await prisma.jobQueue.findFirst({ where: { type: other.type } })).toMatchObject({
      state: 'pending',
      claims: 0,
    });
  });

  test('asks the database for nothing where nothing can be taken', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 1);
    const none = [
      { workerId: 'w', wanted: [], capacity: 10 },
      { workerId: 'w', wanted: [wantedOf(contract)], capacity: 0 },
      { workerId: 'w', wanted: [wantedOf(contract, 0)], capacity: 10 },
    ];
    for (const request of none) expect(await claimJobs(prisma, request)).toEqual([]);
  });

  test('passes by a row that somebody else holds', async () => {
    const contract = newContract();
    const [held = '', free = ''] = await enqueueJobs(prisma, contract, 2);
    const release = await lock(held);
    expect(idsOf(await claimOf(prisma, contract))).toEqual([free]);
    await release();
    expect(idsOf(await claimOf(prisma, contract))).toEqual([held]);
  });
});
