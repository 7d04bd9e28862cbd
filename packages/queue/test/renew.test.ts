import { describe, expect, test } from 'vitest';
import { cancel } from '../src/index.ts';
import { reclaimJobs, renewLeases } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, endLease, enqueueJobs, fenceOf, newClaim, newContract } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

const leaseOf = async (id: string) => {
  const [found] = await prisma.$queryRaw<{ ms: number }[]>`
    SELECT (extract(epoch FROM "lockUntil" - now()) * 1000)::float8 AS "ms"
    FROM "job_queue"
    WHERE "id" = ${id}::uuid`;
  return found?.ms ?? Number.NaN;
};

describe('a renewal', () => {
  test('gives each claim its own lease from now on, and touches nothing else', async () => {
    const contract = newContract({ lease: '30s' });
    await enqueueJobs(prisma, contract, 3);
    const claims = await claimOf(prisma, contract);
    const before = await Promise.all(claims.map(({ id }) => row(id)));
    const leases = claims.map((job, n) => ({ ...fenceOf(job), leaseMs: (n + 1) * 60_000 }));
    const renewals = await renewLeases(prisma, leases);

    expect(renewals).toHaveLength(3);
    for (const [n, { id, claimToken, leaseMs }] of leases.entries()) {
      expect(renewals).toContainEqual({ id, claimToken, renewal: 'renewed', cancelRequested: false });
      const left = await leaseOf(id);
      expect(left).toBeGreaterThan(leaseMs - 10_000);
      expect(left).toBeLessThanOrEqual(leaseMs);
      expect(await row(id)).toEqual({ ...before[n], lockUntil: expect.any(Date) as Date });
    }
  });

  test('brings back cancel requests', async () => {
    const asked = await newClaim(prisma);
    const other = await newClaim(prisma);
    await cancel(prisma, asked.id);
    const renewals = await renewLeases(
      prisma,
      [asked, other].map((job) => ({ ...fenceOf(job), leaseMs: 1_000 })),
    );
    expect(new Map(renewals.map(({ id, cancelRequested }) => [id, cancelRequested]))).toEqual(
      new Map([
        [asked.id, true],
        [other.id, false],
      ]),
    );
  });

  test('saves a lease that has run out while nobody has taken the row', async () => {
    const job = await newClaim(prisma);
    await endLease(prisma, [job.id], 3_600_000);
    expect(await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 30_000 }])).toMatchObject([
      { renewal: 'renewed' },
    ]);
    expect(await reclaimJobs(prisma, 100)).toEqual([]);
    expect(await row(job.id)).toMatchObject({ state: 'running', claimToken: job.claimToken });
  });

  test('comes too late once the sweep has been there', async () => {
    const job = await newClaim(prisma);
    await endLease(prisma, [job.id]);
    await reclaimJobs(prisma, 100);
    expect(await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 30_000 }])).toMatchObject([
      { renewal: 'lost' },
    ]);
    expect(await row(job.id)).toMatchObject({ state: 'pending', lockUntil: null });
  });

  test('of nothing asks the database nothing', async () => {
    expect(await renewLeases(prisma, [])).toEqual([]);
  });
});
