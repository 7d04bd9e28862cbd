/** Completions that delete their rows: fenced as those that keep them, and nothing but a completion deletes. */
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../src/core/decide.ts';
import { cancel, enqueue, findJob, MissingTokenError, retry } from '../src/index.ts';
import { reclaimJobs, renewLeases, settleRuns, type SettledRun } from '../src/protocol.ts';
import { completeAndDelete } from '../src/store/complete-and-delete.ts';
import { deleteClaimed } from '../src/store/delete-claimed.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  attemptError,
  claimOf,
  complete,
  endLease,
  enqueueJobs,
  failed,
  fenceOf,
  newClaim,
  newContract,
  only,
  reclaimedBehind,
  settled,
} from './fixtures/jobs.ts';

const { prisma, row, connect } = await openDatabase();

const settle = (runs: readonly SettledRun[]) => settleRuns(prisma, runs, { keepCompleted: false });
const isGone = async (id: string) => (await findJob(prisma, id)) === undefined;
const ALL_WELL = { lost: [], locked: [] };

/** A claim that is gone, the one that stands, and a check that nothing has changed since. */
async function staleClaim() {
  const contract = newContract();
  const stale = await newClaim(prisma, contract);
  const current = await reclaimedBehind(prisma, stale, contract);
  const before = await row(stale.id);
  const expectUnchanged = async () => expect(await row(stale.id)).toEqual(before);
  return { stale, current, expectUnchanged };
}

describe('a completion that keeps nothing', () => {
  test('deletes its row, and there is nothing left to read, cancel or retry', async () => {
    const { id, ...job } = await newClaim(prisma);
    expect(await settle([complete({ id, ...job }, '{"n":1}')])).toEqual(ALL_WELL);
    expect(await findJob(prisma, id)).toBeUndefined();
    expect(await cancel(prisma, id)).toEqual({ outcome: 'not_found' });
    expect(await retry(prisma, id)).toEqual({ outcome: 'not_found' });
  });

  test('deletes five hundred at once, and no other row', async () => {
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, 501);
    const claims = await claimOf(prisma, contract, 500);
    expect(await settle(claims.map((job) => complete(job)))).toEqual(ALL_WELL);
    const left = await prisma.jobQueue.findMany({ where: { id: { in: ids } } });
    expect(left).toMatchObject([{ state: 'pending' }]);
  });

  test('is the only end that deletes: what fails, dies, is cancelled, snoozes or is handed back stays', async () => {
    const settlements: [Settlement, string | undefined][] = [
      [{ settle: 'complete', result: '1' }, undefined],
      [{ settle: 'retry', error: attemptError('failed') }, 'pending'],
      [{ settle: 'bury', error: attemptError('discarded') }, 'dead'],
      [{ settle: 'cancel', error: attemptError('cancelled') }, 'cancelled'],
      [{ settle: 'snooze', delayMs: 60_000 }, 'pending'],
      [{ settle: 'release' }, 'pending'],
    ];
    const claims = await Promise.all(settlements.map(() => newClaim(prisma)));
    const runs = settlements.flatMap(([settlement], n) => {
      const job = claims[n];
      return job ? [settled(job, settlement)] : [];
    });
    expect(await settle(runs)).toEqual(ALL_WELL);
    const states = await Promise.all(runs.map(async ({ id }) => (await findJob(prisma, id))?.state));
    expect(states).toEqual(settlements.map(([, state]) => state));
  });

  test('wins over a cancellation that was asked for while the job ran', async () => {
    const job = await newClaim(prisma);
    expect(await cancel(prisma, job.id)).toEqual({ outcome: 'requested' });
    expect(await settle([complete(job)])).toEqual(ALL_WELL);
    expect(await isGone(job.id)).toBe(true);
  });

  test('frees the dedupe key', async () => {
    const contract = newContract();
    const job = await newClaim(prisma, contract, { dedupeKey: 'k' });
    expect((await enqueue(prisma, contract, 1, { dedupeKey: 'k' })).outcome).toBe('deduplicated');
    await settle([complete(job)]);
    expect((await enqueue(prisma, contract, 1, { dedupeKey: 'k' })).outcome).toBe('created');
  });

  test('of nothing is nothing', async () => {
    expect(await settle([])).toEqual(ALL_WELL);
  });
});

describe('a stale claim deletes nothing', () => {
  test('and is told that it is lost', async () => {
    const { stale, expectUnchanged } = await staleClaim();
    expect(await settle([complete(stale)])).toEqual({ lost: [fenceOf(stale)], locked: [] });
    await expectUnchanged();
  });

  test('in a batch, whose other runs are completed', async () => {
    const stales = await Promise.all([staleClaim(), staleClaim()]);
    const good = [await newClaim(prisma), await newClaim(prisma)];
    const batch = stales.flatMap(({ stale }, n) => [stale, good[n] ?? stale]);
    const { lost, locked } = await settle(batch.map((job) => complete(job)));
    expect(new Set(lost.map(({ claimToken }) => claimToken))).toEqual(
      new Set(stales.map(({ stale }) => stale.claimToken)),
    );
    expect(locked).toEqual([]);
    for (const { expectUnchanged } of stales) await expectUnchanged();
    for (const { id } of good) expect(await isGone(id)).toBe(true);
  });

  test('in a transaction of its handler', async () => {
    const { stale, expectUnchanged } = await staleClaim();
    await prisma.$transaction(async (tx) => {
      expect(await deleteClaimed(tx, stale)).toBe(false);
    });
    await expectUnchanged();
  });

  test('of a job that the sweep has taken back', async () => {
    const job = await newClaim(prisma);
    await endLease(prisma, [job.id]);
    expect(await reclaimJobs(prisma, 100)).toMatchObject([{ id: job.id }]);
    expect(await settle([complete(job)])).toEqual({ lost: [fenceOf(job)], locked: [] });
    expect((await row(job.id)).state).toBe('pending');
  });

  test('of a job that is dead', async () => {
    const job = await newClaim(prisma);
    await settle([settled(job, { settle: 'bury', error: attemptError('discarded') })]);
    expect(await settle([complete(job)])).toEqual({ lost: [fenceOf(job)], locked: [] });
    expect(await deleteClaimed(prisma, job)).toBe(false);
    expect((await row(job.id)).state).toBe('dead');
  });

  test('of a job that is gone: by no write', async () => {
    const job = await newClaim(prisma);
    await settle([complete(job)]);
    const lost = { lost: [fenceOf(job)], locked: [] };
    expect(await settle([complete(job)])).toEqual(lost);
    expect(await settle([failed(job)])).toEqual(lost);
    expect(await settle([settled(job, { settle: 'release' })])).toEqual(lost);
    expect(await deleteClaimed(prisma, job)).toBe(false);
    expect(only(await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 1_000 }])).renewal).toBe('lost');
    expect(await isGone(job.id)).toBe(true);
  });
});

describe('it is the pair of id and token that counts', () => {
  test('two ids with each other’s token delete neither', async () => {
    const [one, two] = [await newClaim(prisma), await newClaim(prisma)];
    const before = [await row(one.id), await row(two.id)];
    const { lost } = await settle([
      complete({ ...one, claimToken: two.claimToken }),
      complete({ ...two, claimToken: one.claimToken }),
    ]);
    expect(lost).toHaveLength(2);
    expect(await deleteClaimed(prisma, { id: one.id, claimToken: two.claimToken })).toBe(false);
    expect([await row(one.id), await row(two.id)]).toEqual(before);
  });

  test.each([true, false])(
    'a process that claimed a row twice completes both runs in one batch: the old one is lost (old first: %s)',
    async (oldFirst) => {
      const { stale, current } = await staleClaim();
      const batch = [complete(stale), complete(current)];
      const { lost, locked } = await settle(oldFirst ? batch : batch.reverse());
      expect({ lost, locked }).toEqual({ lost: [fenceOf(stale)], locked: [] });
      expect(await isGone(stale.id)).toBe(true);
    },
  );

  test('the old one completes, and the new one fails: the job stays for its next attempt', async () => {
    const { stale, current } = await staleClaim();
    expect(await settle([complete(stale), failed(current)])).toEqual({ lost: [fenceOf(stale)], locked: [] });
    expect(await row(stale.id)).toMatchObject({ state: 'pending', errors: [{ attempt: 2 }] });
  });

  test.each([undefined, null, '', 'token', 7])('a token of %j is refused before the call', async (token) => {
    const job = await newClaim(prisma);
    const before = await row(job.id);
    const unfenced = { ...job, claimToken: token as string };
    await expect(completeAndDelete(prisma, [unfenced])).rejects.toThrow(MissingTokenError);
    await expect(deleteClaimed(prisma, unfenced)).rejects.toThrow(MissingTokenError);
    expect(await row(job.id)).toEqual(before);
  });
});

describe('a row of the app’s that refers to the job', () => {
  const refer = async (onDelete: string) => {
    const psql = await connect();
    await psql.query(`
      DROP TABLE IF EXISTS app_row;
      CREATE TABLE app_row (job uuid REFERENCES job_queue (id) ON DELETE ${onDelete})`);
    const job = await newClaim(prisma);
    await psql.query('INSERT INTO app_row VALUES ($1)', [job.id]);
    const left = async () => (await psql.query('SELECT job FROM app_row')).rows as unknown[];
    return { job, left };
  };

  test('is set free with ON DELETE SET NULL', async () => {
    const { job, left } = await refer('SET NULL');
    expect(await settle([complete(job)])).toEqual(ALL_WELL);
    expect(await left()).toEqual([{ job: null }]);
  });

  test('goes with it with ON DELETE CASCADE', async () => {
    const { job, left } = await refer('CASCADE');
    expect(await settle([complete(job)])).toEqual(ALL_WELL);
    expect(await left()).toEqual([]);
  });

  test('keeps it from completing with anything else', async () => {
    const { job } = await refer('NO ACTION');
    await expect(settle([complete(job)])).rejects.toThrow(/foreign key/);
    expect((await row(job.id)).state).toBe('running');
  });
});
