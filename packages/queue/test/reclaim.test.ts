/** The sweep takes a job whose lease ran out, and knows all that it needs from the row. */
import { beforeEach, describe, expect, test } from 'vitest';
import { cancel } from '../src/index.ts';
import { reclaimJobs, renewLeases, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  claimOf,
  complete,
  endLease,
  enqueueJobs,
  failed,
  fenceOf,
  newClaim,
  newContract,
  only,
} from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

// The sweep takes whatever there is.
beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
});

describe('the sweep', () => {
  test('hands a job back after the delay that its claim wrote, and says why', async () => {
    const job = await newClaim(prisma);
    await endLease(prisma, [job.id]);
    const { retryDelayMs } = await row(job.id);
    expect(await reclaimJobs(prisma, 100)).toEqual([
      { id: job.id, type: job.type, state: 'pending', claimedBy: 'worker-1', attempts: 1, crashes: 1 },
    ]);
    const after = await row(job.id);
    expect(after).toMatchObject({
      state: 'pending',
      attempts: 1,
      claims: 1,
      crashes: 1,
      finishedAt: null,
      ...{
        claimToken: null,
        lockUntil: null,
        retryDelayMs: null,
        claimedBy: 'worker-1',
      },
    });
    expect(after.runAt.getTime() - after.updatedAt.getTime()).toBe(retryDelayMs);
    expect(after.errors).toEqual([
      {
        attempt: 1,
        at: after.updatedAt.toISOString(),
        worker: 'worker-1',
        kind: 'crashed',
        stack: null,
        message: 'the lease ran out: its worker did not renew it',
      },
    ]);
  });

  test('leaves a lease alone that stands, or ended less than two seconds ago', async () => {
    const standing = await newClaim(prisma);
    const justOver = await newClaim(prisma);
    const over = await newClaim(prisma);
    await endLease(prisma, [justOver.id], 1_000);
    await endLease(prisma, [over.id], 2_001);
    expect((await reclaimJobs(prisma, 100)).map(({ id }) => id)).toEqual([over.id]);
    expect((await row(standing.id)).state).toBe('running');
    expect((await row(justOver.id)).state).toBe('running');
  });

  test('knows no types: it takes jobs that no worker handles', async () => {
    const { id } = await newClaim(prisma);
    await prisma.jobQueue.update({ where: { id }, data: { type: 'nobody handles this' } });
    await endLease(prisma, [id]);
    expect(only(await reclaimJobs(prisma, 100)).type).toBe('nobody handles this');
  });

  test('takes the longest overdue first, and no more than its limit', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 5);
    const ids = (await claimOf(prisma, contract)).map(({ id }) => id);
    for (const [index, id] of ids.entries()) await endLease(prisma, [id], (index + 1) * 60_000);
    const first = (await reclaimJobs(prisma, 2)).map(({ id }) => id);
    expect(new Set(first)).toEqual(new Set(ids.slice(3)));
    expect(await reclaimJobs(prisma, 100)).toHaveLength(3);
    expect(await reclaimJobs(prisma, 100)).toEqual([]);
  });

  test('and renewals at the same time: each job is either renewed or taken, never both', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 400);
    const claims = await claimOf(prisma, contract, 400);
    // The sweep comes from one end, the renewals come from the other.
    for (const [index, { id }] of claims.entries()) await endLease(prisma, [id], 60_000 - index);

    const taken: string[] = [];
    const renewed: string[] = [];
    const sweep = async () => {
      for (let found = 1; found > 0;) {
        const reclaimed = await reclaimJobs(prisma, 7);
        found = reclaimed.length;
        taken.push(...reclaimed.map(({ id }) => id));
      }
    };
    const renew = async () => {
      for (let left = [...claims].reverse(); left.length > 0;) {
        const leases = left.splice(0, 5).map((job) => ({ ...fenceOf(job), leaseMs: 600_000 }));
        for (const { id, renewal } of await renewLeases(prisma, leases)) {
          if (renewal === 'renewed') renewed.push(id);
          if (renewal === 'locked') left.unshift(...claims.filter((job) => job.id === id));
        }
      }
    };
    await Promise.all([sweep(), sweep(), renew()]);

    expect([...taken, ...renewed].sort()).toEqual(claims.map(({ id }) => id).sort());
    expect(taken.length).toBeGreaterThan(0);
    expect(renewed.length).toBeGreaterThan(0);
  });

  test('leaves nothing for the run that comes back', async () => {
    const job = await newClaim(prisma);
    await endLease(prisma, [job.id]);
    await reclaimJobs(prisma, 100);
    const swept = await row(job.id);
    expect((await settleRuns(prisma, [complete(job)])).lost).toEqual([fenceOf(job)]);
    expect(await row(job.id)).toEqual(swept);
  });
});

describe('the job is', () => {
  test('dead when its attempts are used up', async () => {
    const contract = newContract({ maxAttempts: 2, maxCrashes: 1_000 });
    const job = await newClaim(prisma, contract);
    await prisma.jobQueue.update({ where: { id: job.id }, data: { attempts: 2 } });
    await endLease(prisma, [job.id]);
    const before = await row(job.id);
    expect(only(await reclaimJobs(prisma, 100))).toMatchObject({ state: 'dead', attempts: 2, crashes: 1 });
    const after = await row(job.id);
    expect(after).toMatchObject({
      state: 'dead',
      runAt: before.runAt,
      errors: [{ kind: 'crashed', attempt: 2 }],
    });
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test('dead at its third crash, however many attempts are left', async () => {
    const contract = newContract({ maxAttempts: 25 });
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    const states: string[] = [];
    for (let crash = 1; crash <= 3; crash++) {
      await prisma.jobQueue.update({ where: { id }, data: { runAt: new Date(0) } });
      await endLease(prisma, [only(await claimOf(prisma, contract)).id]);
      states.push(only(await reclaimJobs(prisma, 100)).state);
    }
    expect(states).toEqual(['pending', 'pending', 'dead']);
    const { errors } = await row(id);
    expect((errors as { attempt: number }[]).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test('not dead for failures: they are not crashes', async () => {
    const contract = newContract({ maxCrashes: 1, maxAttempts: 5 });
    const job = await newClaim(prisma, contract);
    await settleRuns(prisma, [failed(job)]);
    expect(await row(job.id)).toMatchObject({ state: 'pending', attempts: 1, crashes: 0 });
  });

  test('cancelled when that was asked for', async () => {
    const job = await newClaim(prisma, newContract({ maxAttempts: 1 }));
    await cancel(prisma, job.id);
    await endLease(prisma, [job.id]);
    expect(only(await reclaimJobs(prisma, 100)).state).toBe('cancelled');
    const after = await row(job.id);
    expect(after.finishedAt).toEqual(after.updatedAt);
  });

  test('each of a batch in its own state', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 300);
    const ids = (await claimOf(prisma, contract, 300)).map(({ id }) => id);
    const [third, last] = [ids.slice(0, 100), ids.slice(200)];
    await prisma.jobQueue.updateMany({ where: { id: { in: third } }, data: { crashes: 2 } });
    await prisma.jobQueue.updateMany({
      where: { id: { in: last } },
      data: { cancelRequestedAt: new Date() },
    });
    await endLease(prisma, ids);
    const states = new Map((await reclaimJobs(prisma, 300)).map(({ id, state }) => [id, state]));
    for (const [index, id] of ids.entries()) {
      expect(states.get(id)).toBe(index < 100 ? 'dead' : index < 200 ? 'pending' : 'cancelled');
    }
  });
});
