/**
 * A database may default to a stricter isolation, where what passes by a locked row elsewhere fails with a serialization
 * error (40001). The queue's statements try again.
 */
import { describe, expect, test } from 'vitest';
import { cancel, enqueue, findJob, retry } from '../src/index.ts';
import {
  deleteFinished,
  nameOf,
  reclaimJobs,
  renewLeases,
  sqlState,
  type ClaimedJob,
} from '../src/protocol.ts';
import { onceMore } from '../src/store/once-more.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  claimOf,
  complete,
  endLease,
  enqueueJobs,
  failed,
  fenceOf,
  newContract,
  settleAll,
} from './fixtures/jobs.ts';

const fails = (job: ClaimedJob) => job.attempts === 1 && job.id.endsWith('0');

describe.each(['repeatable read', 'serializable'])('in a database that defaults to %s', async (isolation) => {
  const { prisma, newPrisma } = await openDatabase({ default_transaction_isolation: isolation });

  test('it is that, in fact', async () => {
    const [found] = await prisma.$queryRaw<
      { level: string }[]
    >`SELECT current_setting('transaction_isolation') AS "level"`;
    expect(found?.level).toBe(isolation);
  });

  test('claimers at once claim each job once and settle it', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 } });
    const ids = await enqueueJobs(prisma, contract, 400);
    const pool = newPrisma(4);
    const names = new Set<string>();
    let claims = 0;
    let completed = 0;
    const claimer = async () => {
      while (completed < ids.length) {
        const jobs = await claimOf(pool, contract, 20);
        claims += jobs.length;
        for (const job of jobs) names.add(nameOf(job));
        await renewLeases(
          pool,
          jobs.map((job) => ({ ...fenceOf(job), leaseMs: 30_000 })),
        );
        expect(
          await settleAll(
            pool,
            jobs.map((job) => (fails(job) ? failed(job) : complete(job))),
          ),
        ).toEqual([]);
        completed += jobs.filter((job) => !fails(job)).length;
      }
    };
    await Promise.all(Array.from({ length: 4 }, claimer));

    const failures = ids.filter((id) => id.endsWith('0')).length;
    expect(claims).toBe(400 + failures);
    expect(names.size).toBe(claims);
    expect(await prisma.jobQueue.count({ where: { type: contract.type, state: 'completed' } })).toBe(400);
  });

  test('enqueues at once with one key make one job', async () => {
    const contract = newContract();
    const pool = newPrisma(8);
    for (let round = 0; round < 5; round++) {
      const key = `key ${round}`;
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => enqueue(pool, contract, n, { dedupeKey: key })),
      );
      expect(new Set(outcomes.map(({ id }) => id)).size).toBe(1);
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    }
  });

  test('everything else works', async () => {
    const contract = newContract();
    const first = await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    expect(await enqueue(prisma, contract, 2, { dedupeKey: 'k' })).toEqual({
      outcome: 'deduplicated',
      id: first.id,
    });
    await claimOf(prisma, contract);
    expect(await cancel(prisma, first.id)).toEqual({ outcome: 'requested' });
    await endLease(prisma, [first.id]);
    expect(await reclaimJobs(prisma, 100)).toMatchObject([{ id: first.id, state: 'cancelled' }]);
    expect(await retry(prisma, first.id)).toEqual({ outcome: 'retried' });
    expect(await cancel(prisma, first.id)).toEqual({ outcome: 'cancelled' });
    await deleteFinished(prisma, -1_000, 1_000);
    expect(await findJob(prisma, first.id)).toBeUndefined();
  });
});

describe('a statement that the database gave up', async () => {
  const { prisma, connect } = await openDatabase();
  const admin = await connect();
  // Sequences do not roll back: the statement fails so many times.
  await admin.query(`
    CREATE SEQUENCE calls;
    CREATE FUNCTION fail_at_first(times bigint, state text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      call bigint := nextval('calls');
    BEGIN
      IF call <= times THEN RAISE EXCEPTION 'failed on purpose' USING ERRCODE = state; END IF;
      RETURN call;
    END $$`);

  const failing = async (times: number, state: string) => {
    await admin.query("SELECT setval('calls', 1, false)");
    return () =>
      prisma.$queryRaw<{ call: bigint }[]>`SELECT fail_at_first(${times}::bigint, ${state}::text) AS "call"`;
  };

  test.each(['40001', '40P01'])('with %s is tried again, fifty times in all', async (state) => {
    expect(await onceMore(await failing(49, state))).toEqual([{ call: 50n }]);
    const error: unknown = await onceMore(await failing(50, state)).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe(state);
  });

  test.each(['22P05', '23505', '53300', 'P0001'])('with %s is not', async (state) => {
    const error: unknown = await onceMore(await failing(1, state)).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe(state);
  });

  test('inside somebody’s transaction throws what ended that one', async () => {
    await failing(1, '40001');
    const transaction = prisma.$transaction((tx) =>
      onceMore(() => tx.$queryRaw`SELECT fail_at_first(1::bigint, '40001'::text)`),
    );
    const error: unknown = await transaction.catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe('40001');
  });
});
