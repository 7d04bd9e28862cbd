import fc from 'fast-check';
import { expect } from 'vitest';
import { decide, type Outcome } from '../../../src/core/decide.ts';
import { settleRuns } from '../../../src/settle-runs.ts';
import { nameOf, type Fence } from '../../../src/store/fence.ts';
import { settleMove } from '../moves/settle.ts';
import { command, pick, step, type Claim, type Real, type World } from '../world.ts';
import { aClaim, commits, drawn, keepCompleted, outcome, pickClaim } from './kinds.ts';

interface Ended {
  readonly claim: Claim;
  readonly outcome: Outcome;
  /** The worker does not know whether its claim has completed the job before. */
  readonly isUnsure: boolean;
}

const ended = fc.record({ claim: aClaim, outcome, isUnsure: fc.boolean() });

/** Runs that ended, in one batch, each claim of a row once. */
export const settleCommand = fc
  .record({ runs: fc.array(ended, { minLength: 1, maxLength: 4 }), keepCompleted, commits })
  .map(({ runs, keepCompleted: keeps, commits: doesCommit }) =>
    command(
      `settle(${fc.stringify(runs)}, keeps ${keeps}, commits ${doesCommit})`,
      (world, real) => {
        const picked = runs.map((run) => ({ ...run, claim: pickClaim(world, run.claim) }));
        const byName = new Map(picked.map((run) => [nameOf(run.claim), run]));
        return settle(world, real, [...byName.values()], { keeps, doesCommit });
      },
      (world) => world.claims.length > 0,
    ),
  );

/** A worker that lost a row and claimed it again settles it under both tokens at once. */
export const settleTwiceCommand = fc
  .record({
    ...{ row: drawn, outcomes: fc.tuple(outcome, outcome), isLastFirst: fc.boolean() },
    ...{ keepCompleted, commits },
  })
  .map(({ row, outcomes, isLastFirst, keepCompleted: keeps, commits: doesCommit }) =>
    command(
      `settle twice(row ${row}, ${fc.stringify(outcomes)}, last first ${isLastFirst}, keeps ${keeps}, commits ${doesCommit})`,
      (world, real) => {
        const claims = pick(claimedTwice(world), row).slice(-2);
        const runs = claims.flatMap((claim, n) => {
          const said = outcomes[n];
          return said ? [{ claim, outcome: said, isUnsure: false }] : [];
        });
        return settle(world, real, isLastFirst ? runs.reverse() : runs, { keeps, doesCommit });
      },
      (world) => claimedTwice(world).length > 0,
    ),
  );

/** The claims of each row that has had several and is claimed. */
export function claimedTwice(world: Readonly<World>): Claim[][] {
  const byRow = new Map<string, Claim[]>();
  for (const claim of world.claims) byRow.set(claim.id, [...(byRow.get(claim.id) ?? []), claim]);
  return [...byRow.values()].filter(
    (claims) => claims.length > 1 && claims.some((claim) => world.isCurrent(claim)),
  );
}

interface Terms {
  readonly keeps: boolean;
  readonly doesCommit: boolean;
}

async function settle(world: World, real: Real, runs: readonly Ended[], { keeps, doesCommit }: Terms) {
  await step(world, real, {
    cause: 'settle',
    commits: doesCommit,
    async act(tx, now) {
      const asked = runs.map(({ claim, outcome: said, isUnsure }) => ({
        ...claim,
        settlement: decide(said, claim),
        completing: claim.completing || isUnsure,
      }));
      const options = { keepCompleted: keeps };
      const { lost, locked, completed = [] } = await settleRuns(tx, asked, options);

      let table = world.table;
      const reports = { settled: [], lost: [], 'completed before': [] } as Record<string, string[]>;
      for (const [n, { id, claimToken, claims, completing }] of asked.entries()) {
        const said = runs[n]?.outcome ?? { outcome: 'released' };
        const run = { id, claimToken, claims, completing, outcome: said, ...options };
        // What has been completed before is looked for before anything is written.
        const wasBefore = settleMove(world.table, now, run).report === 'completed before';
        const moved = settleMove(table, now, { ...run, completing: wasBefore });
        table = moved.table;
        reports[moved.report]?.push(nameOf(run));
      }
      expect({ lost: namesOf(lost), locked, completed: namesOf(completed) }).toEqual({
        lost: reports['lost']?.sort(),
        locked: [],
        completed: reports['completed before']?.sort(),
      });
      return table;
    },
  });
}

const namesOf = (fences: readonly Fence[]) => fences.map(nameOf).sort();
