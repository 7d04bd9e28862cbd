/** running → completed, gone, dead, cancelled, or pending again: what the claim that holds the row says of its run. */
import type { Outcome } from '../../../src/core/decide.ts';
import { withoutRows, withRow, type Instant, type Row, type Table } from '../table.ts';
import { UNCLAIMED, heldRow, inMs, isFinished, withError, type Moved } from './move.ts';

/** A run that ended, as its worker knows it: its row may have gone to somebody else in the meantime. */
export interface EndedClaim {
  readonly id: string;
  readonly claimToken: string;
  readonly claims: number;
  readonly outcome: Outcome;
  /** It called `ctx.complete(tx)`, so that the job may be completed already. */
  readonly completing: boolean;
  /** Its worker keeps what it completes. */
  readonly keepCompleted: boolean;
}

export type SettleReport = 'settled' | 'lost' | 'completed before';

export function settleMove(
  table: Table,
  now: Instant,
  { outcome, completing, keepCompleted, ...claim }: EndedClaim,
): Moved<SettleReport> {
  const found = table.get(claim.id);
  const wasCompleted = found?.state === 'completed' && found.claims === claim.claims;
  if (completing && (keepCompleted ? wasCompleted : !found)) return { table, report: 'completed before' };
  const row = heldRow(table, claim);
  if (!row) return { table, report: 'lost' };
  if (outcome.outcome === 'completed' && !keepCompleted) {
    return { table: withoutRows(table, [row.id]), report: 'settled' };
  }
  const asSaid = { ...row, ...UNCLAIMED, updatedAt: now, ...ending(row, now, outcome) };
  // Whoever asked for its cancellation sees it completed or cancelled, and not run again.
  const isOutdone = row.cancelRequestedAt !== null && asSaid.state !== 'completed';
  const ended: Row = isOutdone ? { ...asSaid, state: 'cancelled' } : asSaid;
  const finishedAt = isFinished(ended) ? now : null;
  return { table: withRow(table, { ...ended, finishedAt }), report: 'settled' };
}

function ending(row: Row, now: Instant, outcome: Outcome): Pick<Row, 'state'> & Partial<Row> {
  switch (outcome.outcome) {
    case 'completed':
      return { state: 'completed', result: outcome.result === null ? null : JSON.parse(outcome.result) };
    case 'failed': {
      const errors = withError(row, now, { kind: outcome.kind, ...outcome.thrown });
      if (row.attempts >= row.maxAttempts) return { state: 'dead', errors };
      return { state: 'pending', runAt: inMs(now, row.retryDelayMs ?? Number.NaN), errors };
    }
    case 'discarded':
      return { state: 'dead', errors: withError(row, now, { kind: 'discarded', ...outcome.thrown }) };
    case 'cancelled':
      return { state: 'cancelled', errors: withError(row, now, { kind: 'cancelled', ...outcome.thrown }) };
    case 'snoozed':
      return { state: 'pending', runAt: inMs(now, outcome.delayMs), attempts: row.attempts - 1 };
    case 'released':
      return { state: 'pending', attempts: row.attempts - 1 };
  }
}
