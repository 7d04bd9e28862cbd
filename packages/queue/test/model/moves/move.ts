/**
 * What one statement of the queue does to the table, as DESIGN.md's tables of columns and states say it, written a second
 * time and in the plainest way: one row after the other, no SQL. Pure: the time, and whatever chance decided (ids,
 * tokens, retry delays, the order of equals), are arguments, taken from what the real store did.
 */
import type { FinalState } from '../../../src/core/states.ts';
import type { ErrorEntry } from '../../../src/store/job-row.ts';
import { MILLISECOND, type Instant, type Row, type Table } from '../table.ts';

/** The table after a move, and what the statement has to say of it. */
export interface Moved<Report> {
  readonly table: Table;
  readonly report: Report;
}

export const isDue = (row: Row, now: Instant) => row.state === 'pending' && row.runAt <= now;

export const isUnfinished = (row: Row) => row.state === 'pending' || row.state === 'running';

/** In a state that only an operator ends. */
export function isFinished(row: Row): row is Row & { readonly state: FinalState } {
  return !isUnfinished(row);
}

/** What stands on a row exactly while it is claimed. */
export const UNCLAIMED = { claimToken: null, lockUntil: null, retryDelayMs: null } as const;

export const inMs = (now: Instant, ms: number): Instant => now + Math.round(ms * MILLISECOND);

/** The row of a claim that still holds it. */
export function heldRow(
  table: Table,
  fence: { readonly id: string; readonly claimToken: string },
): Row | undefined {
  const row = table.get(fence.id);
  return row?.state === 'running' && row.claimToken === fence.claimToken ? row : undefined;
}

/** The unfinished job that has the key. */
export function holderOf(table: Table, type: string, dedupeKey: string | null): Row | undefined {
  if (dedupeKey === null) return undefined;
  return [...table.values()].find(
    (row) => row.type === type && row.dedupeKey === dedupeKey && isUnfinished(row),
  );
}

const ERRORS_KEPT = 10;

/** Appended; of more than ten the oldest go. */
export function withError(
  row: Row,
  now: Instant,
  error: Pick<ErrorEntry, 'kind' | 'message' | 'stack'>,
): readonly ErrorEntry[] {
  const at = new Date(Math.floor(now / MILLISECOND)).toISOString();
  return [...row.errors, { attempt: row.attempts, at, worker: row.claimedBy, ...error }].slice(-ERRORS_KEPT);
}
