/** A run that has lost its claim changes nothing, by whatever write, alone or in a batch; and it is told so. */
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../src/core/decide.ts';
import { ClaimLostError, MissingTokenError } from '../src/index.ts';
import { renewLeases, settleRuns, type ClaimedJob } from '../src/protocol.ts';
import { completeJobs } from '../src/store/complete.ts';
import { holdClaim } from '../src/store/hold.ts';
import { writeProgress } from '../src/store/progress.ts';
import { openDatabase } from './fixtures/database.ts';
import { startHandler } from './fixtures/run.ts';
import {
  attemptError,
  complete,
  fenceOf,
  newClaim,
  newContract,
  only,
  reclaimedBehind,
  settled,
} from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

/** A claim that is gone, the one that stands, and a check that nothing has changed since. */
async function staleClaim() {
  const contract = newContract();
  const stale = await newClaim(prisma, contract);
  const current = await reclaimedBehind(prisma, stale, contract);
  const before = await row(stale.id);
  const expectUnchanged = async () => expect(await row(stale.id)).toEqual(before);
  return { stale, current, expectUnchanged };
}

const settlements: Settlement[] = [
  { settle: 'complete', result: '{"from":"stale"}' },
  { settle: 'retry', error: attemptError('failed') },
  { settle: 'bury', error: attemptError('discarded') },
  { settle: 'cancel', error: attemptError('cancelled') },
  { settle: 'snooze', delayMs: 5 },
  { settle: 'release' },
];

describe('a stale claim changes nothing', () => {
  test.each(settlements)('by settling: $settle', async (settlement) => {
    const { stale, expectUnchanged } = await staleClaim();
    expect(await settleRuns(prisma, [settled(stale, settlement)])).toEqual({
      lost: [fenceOf(stale)],
      locked: [],
    });
    await expectUnchanged();
  });

  test('by settling in a batch, whose other runs are settled', async () => {
    const stales = await Promise.all(settlements.map(() => staleClaim()));
    const good: ClaimedJob[] = [];
    for (const _ of settlements) good.push(await newClaim(prisma));
    const batch = settlements.flatMap((settlement, n) =>
      [stales[n]?.stale, good[n]].flatMap((job) => (job ? [settled(job, settlement)] : [])),
    );
    const { lost, locked } = await settleRuns(prisma, batch);
    expect(new Set(lost.map(({ claimToken }) => claimToken))).toEqual(
      new Set(stales.map(({ stale }) => stale.claimToken)),
    );
    expect(locked).toEqual([]);
    for (const { expectUnchanged } of stales) await expectUnchanged();
    for (const { id } of good) expect((await row(id)).state).not.toBe('running');
  });

  test('by progress', async () => {
    const { stale, expectUnchanged } = await staleClaim();
    expect(await writeProgress(prisma, stale, '{"at":1}')).toBe('lost');
    await expectUnchanged();
  });

  test('by renewing', async () => {
    const { stale, expectUnchanged } = await staleClaim();
    expect(await renewLeases(prisma, [{ ...fenceOf(stale), leaseMs: 3_600_000 }])).toEqual([
      { ...fenceOf(stale), renewal: 'lost', cancelRequested: false },
    ]);
    await expectUnchanged();
  });

  test('by completing or holding in a transaction', async () => {
    const { stale, expectUnchanged } = await staleClaim();
    await prisma.$transaction(async (tx) => {
      expect(await holdClaim(tx, stale)).toBe(false);
      expect(await completeJobs(tx, [{ ...stale, result: null }])).toEqual({
        lost: [fenceOf(stale)],
        locked: [],
      });
    });
    await expectUnchanged();
  });

  test.each(['progress', 'complete', 'assertClaim'] as const)('by ctx.%s, which throws', async (write) => {
    const { stale, expectUnchanged } = await staleClaim();
    const { run, fenced } = startHandler(prisma, stale, async (_, ctx) => {
      if (write === 'progress') await ctx.progress({ at: 1 });
      else await prisma.$transaction((tx) => ctx[write](tx));
    });
    expect(await run.outcome).toMatchObject({ outcome: 'failed', kind: 'claim_lost' });
    expect(run.signal.reason).toBeInstanceOf(ClaimLostError);
    expect(fenced).toMatchObject([{ job: { id: stale.id, claimToken: stale.claimToken } }]);
    await expectUnchanged();
  });

  test('once the job has finished', async () => {
    const done = await newClaim(prisma);
    await settleRuns(prisma, [complete(done, '{"n":1}')]);
    const before = await row(done.id);
    for (const settlement of settlements) {
      expect((await settleRuns(prisma, [settled(done, settlement)])).lost).toHaveLength(1);
    }
    expect(await writeProgress(prisma, done, '1')).toBe('lost');
    expect(await holdClaim(prisma, done)).toBe(false);
    expect(only(await renewLeases(prisma, [{ ...done, leaseMs: 1_000 }])).renewal).toBe('lost');
    expect(await row(done.id)).toEqual(before);
  });

  test('of a job that is no longer there', async () => {
    const gone = await newClaim(prisma);
    await prisma.jobQueue.delete({ where: { id: gone.id } });
    expect((await settleRuns(prisma, [complete(gone)])).lost).toEqual([fenceOf(gone)]);
    expect(await writeProgress(prisma, gone, '1')).toBe('lost');
    expect(only(await renewLeases(prisma, [{ ...gone, leaseMs: 1_000 }])).renewal).toBe('lost');
  });
});

describe('it is the pair of id and token that counts', () => {
  const ending: Settlement = { settle: 'retry', error: attemptError('failed') };

  test.each<Settlement>([{ settle: 'complete', result: null }, ending])(
    'two ids with each other’s token: $settle',
    async (settlement) => {
      const [one, two] = [await newClaim(prisma), await newClaim(prisma)];
      const before = [await row(one.id), await row(two.id)];
      const crossed = [
        { ...one, claimToken: two.claimToken },
        { ...two, claimToken: one.claimToken },
      ];
      const { lost } = await settleRuns(
        prisma,
        crossed.map((job) => settled(job, settlement)),
      );
      expect(lost).toHaveLength(2);
      const renewals = await renewLeases(
        prisma,
        crossed.map((job) => ({ ...fenceOf(job), leaseMs: 3_600_000 })),
      );
      expect(renewals.map(({ renewal }) => renewal)).toEqual(['lost', 'lost']);
      expect([await row(one.id), await row(two.id)]).toEqual(before);
    },
  );

  test.each<[Settlement, Settlement]>([
    [{ settle: 'complete', result: '"old"' }, ending],
    [ending, { settle: 'complete', result: '"new"' }],
    [
      { settle: 'complete', result: '"old"' },
      { settle: 'complete', result: '"new"' },
    ],
    [{ settle: 'bury', error: attemptError('discarded', 'old') }, ending],
  ])(
    'a process that claimed a row twice settles both runs in one batch: old $settle',
    async (old, current) => {
      for (const oldFirst of [true, false]) {
        const contract = newContract();
        const stale = await newClaim(prisma, contract);
        const fresh = await reclaimedBehind(prisma, stale, contract);
        const batch = [settled(stale, old), settled(fresh, current)];
        const { lost, locked } = await settleRuns(prisma, oldFirst ? batch : batch.reverse());
        expect({ lost, locked }).toEqual({ lost: [fenceOf(stale)], locked: [] });
        const after = await row(stale.id);
        expect(after).toMatchObject(
          current.settle === 'complete'
            ? { state: 'completed', result: 'new', errors: [] }
            : { state: 'pending', result: null, errors: [{ message: 'no luck', attempt: 2 }] },
        );
      }
    },
  );

  test('and renews them both: only the new one stands', async () => {
    const contract = newContract();
    const stale = await newClaim(prisma, contract);
    const fresh = await reclaimedBehind(prisma, stale, contract);
    const renewals = await renewLeases(
      prisma,
      [stale, fresh].map((job) => ({ ...fenceOf(job), leaseMs: 60_000 })),
    );
    const renewal = (claimToken: string) =>
      renewals.find((found) => found.claimToken === claimToken)?.renewal;
    expect([renewal(stale.claimToken), renewal(fresh.claimToken)]).toEqual(['lost', 'renewed']);
  });
});

describe('a fence without a token is refused before the call', () => {
  test.each([undefined, null, '', 'token', 7])('%j', async (claimToken) => {
    const job = await newClaim(prisma);
    const before = await row(job.id);
    const unfenced = { ...job, claimToken: claimToken as string };
    const writes: (() => Promise<unknown>)[] = [
      () => settleRuns(prisma, [complete(unfenced)]),
      () => settleRuns(prisma, [settled(unfenced, { settle: 'release' })]),
      () => renewLeases(prisma, [{ ...unfenced, leaseMs: 1_000 }]),
      () => writeProgress(prisma, unfenced, '1'),
      () => holdClaim(prisma, unfenced),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(MissingTokenError);
    expect(await row(job.id)).toEqual(before);
  });

  test('as is one without an id', async () => {
    const job = await newClaim(prisma);
    const nobody = { ...job, id: undefined as unknown as string };
    await expect(holdClaim(prisma, nobody)).rejects.toThrow(
      "needs the claim's id: expected a UUID, found undefined",
    );
    await expect(settleRuns(prisma, [complete(nobody)])).rejects.toThrow(MissingTokenError);
  });
});
