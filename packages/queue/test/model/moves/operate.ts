/** What an operator does to a job, and the cleanup, which alone lets rows go. */
import type { CancelOutcome, RetryOutcome } from '../../../src/operate.ts';
import { MILLISECOND, withRow, withoutRows, type Instant, type Row, type Table } from '../table.ts';
import { holderOf, isFinished, type Moved } from './move.ts';

export function cancelMove(table: Table, now: Instant, id: string): Moved<CancelOutcome> {
  const row = table.get(id);
  if (!row) return { table, report: { outcome: 'not_found' } };
  if (isFinished(row)) return { table, report: { outcome: 'already_finished', state: row.state } };
  const asked = { ...row, cancelRequestedAt: row.cancelRequestedAt ?? now, updatedAt: now };
  if (row.state === 'running') return { table: withRow(table, asked), report: { outcome: 'requested' } };
  return {
    table: withRow(table, { ...asked, state: 'cancelled', finishedAt: now }),
    report: { outcome: 'cancelled' },
  };
}

/** Another life: due at once, attempts and crashes from zero; claims, errors and progress go on. */
export function retryMove(table: Table, now: Instant, id: string): Moved<RetryOutcome> {
  const row = table.get(id);
  if (!row) return { table, report: { outcome: 'not_found' } };
  if (row.state === 'pending' || row.state === 'running') {
    return { table, report: { outcome: 'not_finished', state: row.state } };
  }
  const holder = holderOf(table, row.type, row.dedupeKey);
  if (holder) return { table, report: { outcome: 'duplicate', id: holder.id } };
  const again: Row = {
    ...row,
    state: 'pending',
    runAt: now,
    attempts: 0,
    crashes: 0,
    result: null,
    cancelRequestedAt: null,
    updatedAt: now,
    finishedAt: null,
  };
  return { table: withRow(table, again), report: { outcome: 'retried' } };
}

/** Finished for longer than the retention, the longest first. */
export function outdated(table: Table, now: Instant, olderThanMs: number): Row[] {
  const end = now - olderThanMs * MILLISECOND;
  const rows = [...table.values()].filter((row) => row.finishedAt !== null && row.finishedAt < end);
  return rows.sort((a, b) => Number(a.finishedAt) - Number(b.finishedAt));
}

export function cleanupMove(table: Table, ids: readonly string[]): Moved<number> {
  return { table: withoutRows(table, ids), report: ids.length };
}
