import { beforeEach, describe, expect, test } from 'vitest';
import { cancel } from '../src/index.ts';
import { deleteFinished, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { attemptError, complete, enqueueJobs, newClaim, newContract, settled } from './fixtures/jobs.ts';

const { prisma } = await openDatabase();

beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
});

const DAY = 86_400_000;

async function finishedDaysAgo(id: string, days: number): Promise<void> {
  await prisma.$executeRaw`
    UPDATE "job_queue"
    SET "finishedAt" = now() - ${days}::int * interval '1 day'
    WHERE "id" = ${id}::uuid`;
}

const left = async () =>
  (await prisma.jobQueue.findMany({ select: { id: true } })).map(({ id }) => id).sort();

describe('deleteFinished', () => {
  test('deletes finished jobs of any state by their age, and nothing else', async () => {
    const completed = await newClaim(prisma);
    await settleRuns(prisma, [complete(completed)]);
    const dead = await newClaim(prisma);
    await settleRuns(prisma, [settled(dead, { settle: 'bury', error: attemptError('discarded') })]);
    const [cancelled = '', pending = ''] = await enqueueJobs(prisma, newContract(), 2);
    await cancel(prisma, cancelled);
    const young = await newClaim(prisma);
    await settleRuns(prisma, [complete(young)]);
    const running = await newClaim(prisma);
    for (const id of [completed.id, dead.id, cancelled]) await finishedDaysAgo(id, 8);
    await finishedDaysAgo(young.id, 6);
    await prisma.jobQueue.updateMany({ data: { createdAt: new Date(0), updatedAt: new Date(0) } });

    expect(await deleteFinished(prisma, 7 * DAY, 100)).toBe(3);
    expect(await left()).toEqual([pending, young.id, running.id].sort());
    expect(await deleteFinished(prisma, 7 * DAY, 100)).toBe(0);
  });

  test('takes the oldest first, a batch at a time', async () => {
    const ids = await enqueueJobs(prisma, newContract(), 5);
    for (const [index, id] of ids.entries()) {
      await cancel(prisma, id);
      await finishedDaysAgo(id, 10 - index);
    }
    expect(await deleteFinished(prisma, DAY, 2)).toBe(2);
    expect(await left()).toEqual(ids.slice(2).sort());
    expect(await deleteFinished(prisma, DAY, 2)).toBe(2);
    expect(await deleteFinished(prisma, DAY, 2)).toBe(1);
  });

  test('two cleanups at once do not wait for each other and delete each job once', async () => {
    const ids = await enqueueJobs(prisma, newContract(), 300);
    await prisma.jobQueue.updateMany({
      where: { id: { in: ids } },
      data: { state: 'cancelled', finishedAt: new Date(0) },
    });
    const clean = async () => {
      let deleted = 0;
      for (let found = 1; found > 0; deleted += found) found = await deleteFinished(prisma, DAY, 20);
      return deleted;
    };
    const [one, two] = await Promise.all([clean(), clean()]);
    expect(one + two + (await deleteFinished(prisma, DAY, 1_000))).toBe(300);
    expect(await left()).toEqual([]);
  });
});
