/** What tells idle workers that something is due: once a transaction, at its commit, whoever inserted the row. */
import { beforeEach, describe, expect, test } from 'vitest';
import { cancel, enqueue, enqueueMany, retry } from '../src/index.ts';
import { reclaimJobs, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { listenForWakeUps } from './fixtures/wake-ups.ts';
import {
  attemptError,
  claimOf,
  complete,
  endLease,
  enqueueJobs,
  failed,
  newClaim,
  newContract,
  settled,
} from './fixtures/jobs.ts';

const { prisma, newPrisma, connect } = await openDatabase();
const psql = await connect();
const sent = await listenForWakeUps(connect);

beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
  await sent();
});

const WAKE = '';

describe('an insert wakes', () => {
  test('by the library, by prisma.jobQueue.create and by psql', async () => {
    await enqueue(prisma, newContract(), 1);
    expect(await sent()).toEqual([WAKE]);
    await prisma.jobQueue.create({ data: { type: 'by.hand' } });
    expect(await sent()).toEqual([WAKE]);
    await psql.query("INSERT INTO job_queue (type, payload) VALUES ('by.hand', '{}')");
    expect(await sent()).toEqual([WAKE]);
  });

  test('once for a bulk of a thousand, and once for the next', async () => {
    const contract = newContract();
    for (let round = 0; round < 2; round++) {
      await enqueueJobs(prisma, contract, 1_000);
      expect(await sent()).toEqual([WAKE]);
    }
  });

  test('by a trigger that a bulk calls once, and not for each of its rows', async () => {
    await psql.query('BEGIN');
    await psql.query('SET CONSTRAINTS ALL IMMEDIATE');
    const { rows } = await psql.query<{ 'QUERY PLAN': [{ Triggers: [{ Calls: number }] }] }>(
      "EXPLAIN (ANALYZE, FORMAT JSON) INSERT INTO job_queue (type) SELECT 'bulk' FROM generate_series(1, 1000)",
    );
    await psql.query('ROLLBACK');
    expect(rows[0]?.['QUERY PLAN'][0].Triggers.map(({ Calls }) => Calls)).toEqual([1]);
  });

  test('with a job that is due within a minute, but not with one for later', async () => {
    await enqueue(prisma, newContract(), 1, { delay: '59s' });
    expect(await sent()).toEqual([WAKE]);
    await enqueue(prisma, newContract(), 1, { delay: '1h' });
    expect(await sent()).toEqual([]);
    await enqueueMany(prisma, newContract(), [{ payload: 1, delay: '1h' }, { payload: 2 }]);
    expect(await sent()).toEqual([WAKE]);
  });

  test('not with a duplicate, nor with a row that is not pending', async () => {
    const contract = newContract();
    await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await sent();
    await enqueue(prisma, contract, 1, { dedupeKey: 'k' });
    await prisma.jobQueue.create({ data: { type: 'imported', state: 'completed', finishedAt: new Date() } });
    expect(await sent()).toEqual([]);
  });
});

describe('a transaction wakes', () => {
  test('once, at its commit', async () => {
    const contract = newContract();
    await prisma.$transaction(async (tx) => {
      await enqueue(tx, contract, 1);
      await enqueueJobs(tx, contract, 10);
      await enqueue(tx, newContract(), 1);
      expect(await sent()).toEqual([]);
    });
    expect(await sent()).toEqual([WAKE]);
  });

  test('not when it is rolled back', async () => {
    const transaction = prisma.$transaction(async (tx) => {
      await enqueue(tx, newContract(), 1);
      throw new Error('rolled back');
    });
    await expect(transaction).rejects.toThrow('rolled back');
    expect(await sent()).toEqual([]);
  });

  const insert = "INSERT INTO job_queue (type) VALUES ('savepoint')";

  test.each<[string, string[], string[]]>([
    ['all that it inserted was rolled back', ['SAVEPOINT a', insert, 'ROLLBACK TO a'], []],
    [
      'an insert came after one that was rolled back',
      ['SAVEPOINT a', insert, 'ROLLBACK TO a', insert],
      [WAKE],
    ],
    [
      'an insert came before one that was rolled back',
      [insert, 'SAVEPOINT a', insert, 'ROLLBACK TO a'],
      [WAKE],
    ],
    ['the savepoint was released', ['SAVEPOINT a', insert, 'RELEASE a', insert], [WAKE]],
    [
      'inner savepoints came and went',
      ['SAVEPOINT a', 'SAVEPOINT b', insert, 'RELEASE b', 'ROLLBACK TO a'],
      [],
    ],
    ['it was inserted in a block that caught an error', [blockThatFails(insert), insert], [WAKE]],
    [
      'its constraints were made immediate on the way',
      [insert, 'SET CONSTRAINTS ALL IMMEDIATE', insert],
      [WAKE],
    ],
  ])('exactly if something of it is left: %s', async (_, statements, wakes) => {
    await psql.query('BEGIN');
    for (const statement of statements) await psql.query(statement);
    await psql.query('COMMIT');
    expect(await sent()).toEqual(wakes);
  });

  test('also as the second of its session', async () => {
    for (let round = 0; round < 3; round++) {
      await psql.query(`BEGIN; ${insert}; COMMIT`);
      expect(await sent()).toEqual([WAKE]);
    }
  });

  test('while others are open that will wake as well', async () => {
    const open = newPrisma(1);
    const done = await newClaim(prisma);
    await settleRuns(prisma, [complete(done)]);
    await open.$transaction(async (tx) => {
      await enqueue(tx, newContract(), 1);
      await retry(tx, done.id);
      await sent();
      await enqueue(prisma, newContract(), 1);
      expect(await sent()).toEqual([WAKE]);
    });
    expect(await sent()).toEqual([WAKE]);
  });
});

test('of fifty transactions at once at least one wakes, and none of them waits for another', async () => {
  const many = newPrisma(25);
  const contract = newContract();
  await Promise.all(Array.from({ length: 50 }, (_, n) => enqueue(many, contract, n)));
  const wakes = await sent();
  expect(wakes.length).toBeGreaterThanOrEqual(1);
  expect(new Set(wakes)).toEqual(new Set([WAKE]));
});

test('while one transaction carries the wake-up to its commit, others commit without one, and do not wait', async () => {
  await psql.query('BEGIN');
  await psql.query(`INSERT INTO job_queue (type) VALUES ('carrier')`);
  // Its deferred trigger runs here, as it would at the commit, which is too short to stand still in.
  await psql.query('SET CONSTRAINTS ALL IMMEDIATE');
  const enqueued = prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL lock_timeout = '2s'`;
    await enqueue(tx, newContract(), 1);
  });
  await expect(enqueued).resolves.toBeUndefined();
  expect(await sent()).toEqual([]);
  await psql.query('COMMIT');
  expect(await sent()).toEqual([WAKE]);
});

const slow = () => newContract({ retry: { base: '2h', max: '2h' } });
const fast = () => newContract({ retry: { base: '20s', max: '20s' } });

describe('what makes a job due again wakes', () => {
  test.each([
    ['a release', { settle: 'release' }, [WAKE]],
    ['a snooze of seconds', { settle: 'snooze', delayMs: 30_000 }, [WAKE]],
    ['a snooze of hours', { settle: 'snooze', delayMs: 3_600_000 }, []],
    ['a death', { settle: 'bury', error: attemptError('failed') }, []],
    ['a completion', { settle: 'complete', result: null }, []],
  ] as const)('%s', async (_, settlement, wakes) => {
    const job = await newClaim(prisma);
    await sent();
    await settleRuns(prisma, [settled(job, settlement)]);
    expect(await sent()).toEqual(wakes);
  });

  test('a failure whose next attempt is near, and not one whose next attempt is far', async () => {
    const near = await newClaim(prisma, fast());
    const far = await newClaim(prisma, slow());
    await sent();
    await settleRuns(prisma, [failed(far)]);
    expect(await sent()).toEqual([]);
    await settleRuns(prisma, [failed(near)]);
    expect(await sent()).toEqual([WAKE]);
  });

  test('a sweep, by the same rule', async () => {
    const far = await newClaim(prisma, slow());
    await endLease(prisma, [far.id]);
    await sent();
    expect(await reclaimJobs(prisma, 100)).toHaveLength(1);
    expect(await sent()).toEqual([]);
    const contract = fast();
    await enqueueJobs(prisma, contract, 20);
    await endLease(
      prisma,
      (await claimOf(prisma, contract)).map(({ id }) => id),
    );
    await sent();
    expect(await reclaimJobs(prisma, 100)).toHaveLength(20);
    expect(await sent()).toEqual([WAKE]);
  });

  test('an operator’s retry', async () => {
    const job = await newClaim(prisma);
    await settleRuns(prisma, [complete(job)]);
    await sent();
    await retry(prisma, job.id);
    expect(await sent()).toEqual([WAKE]);
    await retry(prisma, job.id);
    expect(await sent()).toEqual([]);
  });
});

describe('a cancellation', () => {
  test('of a running job tells its worker', async () => {
    const job = await newClaim(prisma);
    await sent();
    await cancel(prisma, job.id);
    expect(await sent()).toEqual(['cancel']);
  });

  test('of a pending one tells nobody', async () => {
    const { id } = await enqueue(prisma, newContract(), 1);
    await sent();
    await cancel(prisma, id);
    await cancel(prisma, id);
    expect(await sent()).toEqual([]);
  });
});

function blockThatFails(statement: string): string {
  return `DO $$ BEGIN ${statement}; RAISE EXCEPTION 'no'; EXCEPTION WHEN OTHERS THEN NULL; END $$`;
}
