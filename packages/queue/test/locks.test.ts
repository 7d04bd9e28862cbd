/**
 * A row that another transaction holds (a handler after ctx.complete(tx), a person in psql): no statement of the queue
 * waits for it, and none lets it hold up the other rows.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { cancel, enqueue, findJob, retry } from '../src/index.ts';
import { deleteFinished, reclaimJobs, renewLeases, settleRuns } from '../src/protocol.ts';
import { holdClaim } from '../src/store/hold.ts';
import { writeProgress } from '../src/store/progress.ts';
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
  settleAll,
} from './fixtures/jobs.ts';

// Waiting shows as an error (55P03).
const { prisma, row, lock } = await openDatabase({ lock_timeout: '50ms' });

// The sweep takes whatever there is.
beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
});

async function twoClaims() {
  const contract = newContract();
  await enqueueJobs(prisma, contract, 2);
  const [held, free] = await claimOf(prisma, contract);
  if (!held || !free) throw new Error('two claims expected');
  return { contract, held, free };
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

test('a row that a foreign key refers to is not held: it is claimed, renewed and settled meanwhile', async () => {
  const contract = newContract();
  await enqueueJobs(prisma, contract, 1);
  await prisma.$transaction(async (tx) => {
    // What an insert of a row that refers to it takes.
    await tx.$queryRaw`SELECT "id"::text FROM "job_queue" FOR KEY SHARE`;
    const [job] = await claimOf(prisma, contract);
    if (!job) throw new Error('a claim expected');
    const [renewal] = await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 30_000 }]);
    expect(renewal?.renewal).toBe('renewed');
    expect(await settleRuns(prisma, [complete(job)])).toEqual({ lost: [], locked: [] });
  });
});

test('but one that is to be deleted by its completion waits its turn, and nobody waits for it', async () => {
  const { held, free } = await twoClaims();
  const settle = () => settleRuns(prisma, [complete(held), complete(free)], { keepCompleted: false });
  await prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT "id"::text FROM "job_queue" WHERE "id" = ${held.id}::uuid FOR KEY SHARE`;
    expect(await settle()).toEqual({ lost: [], locked: [fenceOf(held)] });
    expect(await findJob(prisma, free.id)).toBeUndefined();
  });
  expect(await settle()).toEqual({ lost: [fenceOf(free)], locked: [] });
  expect(await findJob(prisma, held.id)).toBeUndefined();
});

test('a job that a handler’s transaction holds does not hold up an enqueue with its key', async () => {
  const contract = newContract();
  const job = await newClaim(prisma, contract, { dedupeKey: 'k' });
  await prisma.$transaction(async (tx) => {
    expect(await holdClaim(tx, job)).toBe(true);
    const outcome = await enqueue(prisma, contract, 'again', { dedupeKey: 'k' });
    expect(outcome).toEqual({ outcome: 'deduplicated', id: job.id });
  });
});

describe('a row that somebody else holds', () => {
  test('would be waited for by a plain UPDATE', async () => {
    const job = await newClaim(prisma);
    const release = await lock(job.id);
    const plain = prisma.jobQueue.update({ where: { id: job.id }, data: { progress: 1 } });
    await expect(plain).rejects.toThrow(/lock timeout/);
    await release();
  });

  test('is passed by by a claim', async () => {
    const contract = newContract();
    const [held = '', ...free] = await enqueueJobs(prisma, contract, 3);
    const release = await lock(held);
    expect(idsOf(await claimOf(prisma, contract)).sort()).toEqual(free);
    await release();
  });

  test.each([complete, failed])(
    'is reported as locked by a settlement (%o), which settles the others',
    async (settle) => {
      const { held, free } = await twoClaims();
      const release = await lock(held.id);
      expect(await settleRuns(prisma, [settle(held), settle(free)])).toEqual({
        lost: [],
        locked: [fenceOf(held)],
      });
      expect((await row(held.id)).state).toBe('running');
      expect((await row(free.id)).state).not.toBe('running');
      await release();
      expect(await settleRuns(prisma, [settle(held)])).toEqual({ lost: [], locked: [] });
      expect((await row(held.id)).state).not.toBe('running');
    },
  );

  test('is reported as locked by a completion that keeps nothing, which deletes the others', async () => {
    const { held, free } = await twoClaims();
    const settle = (...runs: (typeof held)[]) =>
      settleRuns(
        prisma,
        runs.map((job) => complete(job)),
        { keepCompleted: false },
      );
    const release = await lock(held.id);
    expect(await settle(held, free)).toEqual({ lost: [], locked: [fenceOf(held)] });
    expect((await row(held.id)).state).toBe('running');
    expect(await findJob(prisma, free.id)).toBeUndefined();
    await release();
    expect(await settle(held)).toEqual({ lost: [], locked: [] });
    expect(await findJob(prisma, held.id)).toBeUndefined();
  });

  test('is reported as locked by a renewal, which renews the others', async () => {
    const { held, free } = await twoClaims();
    await endLease(prisma, [held.id, free.id]);
    const release = await lock(held.id);
    const renewals = await renewLeases(
      prisma,
      [held, free].map((job) => ({ ...fenceOf(job), leaseMs: 60_000 })),
    );
    expect(new Map(renewals.map(({ id, renewal }) => [id, renewal]))).toEqual(
      new Map([
        [held.id, 'locked'],
        [free.id, 'renewed'],
      ]),
    );
    await release();
  });

  test('is left to its holder by the sweep, and taken afterwards', async () => {
    const { held, free } = await twoClaims();
    await endLease(prisma, [held.id, free.id]);
    const release = await lock(held.id);
    expect(idsOf(await reclaimJobs(prisma, 100))).toEqual([free.id]);
    await release();
    expect(idsOf(await reclaimJobs(prisma, 100))).toEqual([held.id]);
  });

  test('is left alone by the cleanup', async () => {
    const { held, free } = await twoClaims();
    await settleAll(prisma, [complete(held), complete(free)]);
    const release = await lock(held.id);
    await deleteFinished(prisma, 0, 1_000);
    await release();
    expect(await findJob(prisma, held.id)).toBeDefined();
    expect(await findJob(prisma, free.id)).toBeUndefined();
  });

  test('is busy for a cancellation and for a retry', async () => {
    const { held, free } = await twoClaims();
    await settleAll(prisma, [complete(free)]);
    const release = await lock(held.id, free.id);
    expect(await cancel(prisma, held.id)).toEqual({ outcome: 'busy' });
    expect(await retry(prisma, free.id)).toEqual({ outcome: 'busy' });
    await release();
    expect(await cancel(prisma, held.id)).toEqual({ outcome: 'requested' });
    expect(await retry(prisma, free.id)).toEqual({ outcome: 'retried' });
  });

  test('is told so to a progress write', async () => {
    const { held } = await twoClaims();
    const release = await lock(held.id);
    expect(await writeProgress(prisma, held, '1')).toBe('locked');
    await release();
    expect(await writeProgress(prisma, held, '1')).toBe('written');
  });
});

test('a claim that is gone is lost and not locked, whoever holds the row', async () => {
  const { held } = await twoClaims();
  await settleAll(prisma, [failed(held)]);
  const release = await lock(held.id);
  expect(await settleRuns(prisma, [complete(held)])).toEqual({ lost: [fenceOf(held)], locked: [] });
  expect(await settleRuns(prisma, [failed(held)])).toEqual({ lost: [fenceOf(held)], locked: [] });
  expect(await settleRuns(prisma, [complete(held)], { keepCompleted: false })).toEqual({
    lost: [fenceOf(held)],
    locked: [],
  });
  expect(await renewLeases(prisma, [{ ...fenceOf(held), leaseMs: 1_000 }])).toMatchObject([
    { renewal: 'lost' },
  ]);
  expect(await writeProgress(prisma, held, '1')).toBe('lost');
  await release();
});
