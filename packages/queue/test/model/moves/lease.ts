/** running → running: what a claim does while its run goes on, and the sweep, for claims that nobody renews. */
import type { ReclaimedJob } from '../../../src/store/reclaim.ts';
import type { ProgressWrite } from '../../../src/store/progress.ts';
import type { Lease, Renewal } from '../../../src/store/renew.ts';
import { SECOND, withRow, type Instant, type Row, type Table } from '../table.ts';
import { UNCLAIMED, heldRow, inMs, withError, type Moved } from './move.ts';

export function renewMove(table: Table, now: Instant, { leaseMs, ...fence }: Lease): Moved<Renewal> {
  const row = heldRow(table, fence);
  const cancelRequested = (table.get(fence.id)?.cancelRequestedAt ?? null) !== null;
  return {
    table: row ? withRow(table, { ...row, lockUntil: inMs(now, leaseMs) }) : table,
    report: {
      id: fence.id,
      claimToken: fence.claimToken,
      renewal: row ? 'renewed' : 'lost',
      cancelRequested,
    },
  };
}

export function progressMove(
  table: Table,
  fence: { readonly id: string; readonly claimToken: string },
  progress: unknown,
): Moved<ProgressWrite> {
  const row = heldRow(table, fence);
  if (!row) return { table, report: 'lost' };
  return { table: withRow(table, { ...row, progress }), report: 'written' };
}

const GRACE = 2 * SECOND;

/** The longest expired first. */
export function expired(table: Table, now: Instant): Row[] {
  const rows = [...table.values()].filter((row) => row.lockUntil !== null && row.lockUntil < now - GRACE);
  return rows.sort((a, b) => Number(a.lockUntil) - Number(b.lockUntil));
}

/** Takes these rows, which are expired, from whoever had them. */
export function reclaimMove(table: Table, now: Instant, ids: readonly string[]): Moved<ReclaimedJob[]> {
  let after = table;
  const report = ids.flatMap((id) => {
    const row = table.get(id);
    if (!row) return [];
    const state = reclaimedState(row);
    const reclaimed: Row = {
      ...row,
      ...UNCLAIMED,
      state,
      crashes: row.crashes + 1,
      runAt: state === 'pending' ? inMs(now, row.retryDelayMs ?? Number.NaN) : row.runAt,
      errors: withError(row, now, {
        kind: 'crashed',
        message: 'the lease ran out: its worker did not renew it',
        stack: null,
      }),
      updatedAt: now,
      finishedAt: state === 'pending' ? null : now,
    };
    after = withRow(after, reclaimed);
    const { type, claimedBy, attempts, crashes } = reclaimed;
    return [{ id, type, state, claimedBy, attempts, crashes }];
  });
  return { table: after, report };
}

function reclaimedState(row: Row): ReclaimedJob['state'] {
  if (row.cancelRequestedAt !== null) return 'cancelled';
  return row.attempts >= row.maxAttempts || row.crashes + 1 >= row.maxCrashes ? 'dead' : 'pending';
}
