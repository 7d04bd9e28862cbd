/** What is done to rows that nobody asked about: the sweep and the cleanup, in small batches. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { deleteFinished } from '../../../src/store/cleanup.ts';
import { reclaimJobs } from '../../../src/store/reclaim.ts';
import { expired, reclaimMove } from '../moves/lease.ts';
import { cleanupMove, outdated } from '../moves/operate.ts';
import { readTable, type Row } from '../table.ts';
import { command, step, type Real, type World } from '../world.ts';
import { commits } from './kinds.ts';

const limit = fc.integer({ min: 1, max: 5 });

export const sweepCommand = fc.record({ limit, commits }).map(({ limit: most, commits: doesCommit }) =>
  command(
    `sweep(${most}, commits ${doesCommit})`,
    (world, real) => sweep(world, real, most, doesCommit),
    (world) => world.rows.some(({ state }) => state === 'running'),
  ),
);

export async function sweep(world: World, real: Real, most: number, doesCommit: boolean): Promise<void> {
  await step(world, real, {
    cause: 'sweep',
    commits: doesCommit,
    async act(tx, now) {
      const reclaimed = await reclaimJobs(tx, most);
      const ids = reclaimed.map(({ id }) => id);
      expectFirst(ids, expired(world.table, now), most, ({ lockUntil }) => lockUntil);
      const { table, report } = reclaimMove(world.table, now, ids);
      expect(reclaimed).toEqual(report);
      return table;
    },
  });
}

export const RETENTION_MS = 3_600_000;

export const cleanupCommand = fc.record({ limit, commits }).map(({ limit: most, commits: doesCommit }) =>
  command(
    `clean up(${most}, commits ${doesCommit})`,
    (world, real) =>
      step(world, real, {
        cause: 'cleanup',
        commits: doesCommit,
        async act(tx, now) {
          const count = await deleteFinished(tx, RETENTION_MS, most);
          const left = await readTable(tx);
          const gone = [...world.table.keys()].filter((id) => !left.has(id));
          expectFirst(gone, outdated(world.table, now, RETENTION_MS), most, ({ finishedAt }) => finishedAt);
          const { table, report } = cleanupMove(world.table, gone);
          expect(count).toBe(report);
          return table;
        },
      }),
    (world) => world.rows.length > 0,
  ),
);

/** The first so many of the candidates; chance decides between those that stand at the same instant. */
function expectFirst(
  ids: readonly string[],
  candidates: readonly Row[],
  most: number,
  instant: (row: Row) => number | null,
): void {
  const taken = candidates.filter(({ id }) => ids.includes(id));
  expect(taken).toHaveLength(ids.length);
  expect(taken.map(instant)).toEqual(candidates.slice(0, most).map(instant));
}
