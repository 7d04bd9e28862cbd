/**
 * Whether a race came to what some serial order of its operations comes to, by the model: the same table, and each
 * operation saying the same. An operation that had ended before another began comes before it. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { listed, type Instant, type Table } from '../table.ts';
import type { Operation } from './operations/operation.ts';
import type { Target } from './situations.ts';

export interface Done {
  readonly operation: Operation;
  readonly now: Instant;
  readonly report: unknown;
  /** When it began and ended, as places in the race. */
  readonly began: number;
  readonly ended: number;
}

export function isSerial(before: Table, after: Table, target: Target, done: readonly Done[]): boolean {
  return permutations(done).some((serial) => isExplainedBy(serial, before, after, target));
}

function isExplainedBy(serial: readonly Done[], before: Table, after: Table, target: Target): boolean {
  let table = before;
  for (const { operation, now, report } of serial) {
    const moved = operation.move(table, now, target, report);
    if (!isDeepStrictEqual(moved.report, report)) return false;
    table = moved.table;
  }
  return isDeepStrictEqual(listed(table), listed(after));
}

function permutations(done: readonly Done[]): Done[][] {
  if (done.length === 0) return [[]];
  return done.flatMap((first) => {
    const rest = done.filter((one) => one !== first);
    if (rest.some((one) => one.ended < first.began)) return [];
    return permutations(rest).map((order) => [first, ...order]);
  });
}
