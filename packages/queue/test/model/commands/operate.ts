/** An operator cancels or retries any job, those that are gone included. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { cancel, retry } from '../../../src/operate.ts';
import { isFinished, isUnfinished } from '../moves/move.ts';
import { cancelMove, retryMove } from '../moves/operate.ts';
import type { Row } from '../table.ts';
import { command, pick, step, type World } from '../world.ts';
import { commits, drawn } from './kinds.ts';

const hasJobs = (world: Readonly<World>) => world.ids.size > 0;

/** Mostly one in a state that the operation is for, or one that has a key as well; now and then any, or one that is gone. */
const target = fc.record({ drawn, among: fc.constantFrom('apt', 'apt', 'keyed', 'keyed', 'any') });

type Target = typeof target extends fc.Arbitrary<infer T> ? T : never;

function pickJob(world: World, { drawn: number, among }: Target, isApt: (row: Row) => boolean): string {
  const apt = world.rows.filter(isApt);
  const keyed = apt.filter(({ dedupeKey }) => dedupeKey !== null);
  const rows = among === 'keyed' && keyed.length > 0 ? keyed : apt;
  return among === 'any' || rows.length === 0 ? pick([...world.ids], number) : pick(rows, number).id;
}

export const cancelCommand = fc.record({ job: target, commits }).map(({ job, commits: doesCommit }) =>
  command(
    `cancel(${fc.stringify(job)}, commits ${doesCommit})`,
    (world, real) =>
      step(world, real, {
        cause: 'cancel',
        commits: doesCommit,
        async act(tx, now) {
          const id = pickJob(world, job, isUnfinished);
          const { table, report } = cancelMove(world.table, now, id);
          expect(await cancel(tx, id)).toEqual(report);
          return table;
        },
      }),
    hasJobs,
  ),
);

export const retryCommand = fc.record({ job: target, commits }).map(({ job, commits: doesCommit }) =>
  command(
    `retry(${fc.stringify(job)}, commits ${doesCommit})`,
    (world, real) =>
      step(world, real, {
        cause: 'retry',
        commits: doesCommit,
        async act(tx, now) {
          const id = pickJob(world, job, isFinished);
          const { table, report } = retryMove(world.table, now, id);
          expect(await retry(tx, id)).toEqual(report);
          return table;
        },
      }),
    hasJobs,
  ),
);
