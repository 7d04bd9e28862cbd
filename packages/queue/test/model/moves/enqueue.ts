/** – → pending. A key that an unfinished job of the type has makes no second one. */
import type { EnqueueOutcome } from '../../../src/enqueue.ts';
import { withRow, type Instant, type Row, type Table } from '../table.ts';
import { UNCLAIMED, holderOf, type Moved } from './move.ts';

export interface Enqueued {
  /** Of the new job, if one is made. */
  readonly id: string;
  readonly payload: unknown;
  readonly priority: number;
  readonly runAt: Instant;
  readonly dedupeKey: string | null;
}

export interface Limits {
  readonly type: string;
  readonly maxAttempts: number;
  readonly maxCrashes: number;
}

/** One statement for all of them; of those with one key, the first makes the job. */
export function enqueueMove(
  table: Table,
  now: Instant,
  limits: Limits,
  jobs: readonly Enqueued[],
): Moved<EnqueueOutcome[]> {
  let after = table;
  const report = jobs.map((job): EnqueueOutcome => {
    const holder = holderOf(after, limits.type, job.dedupeKey);
    if (holder) return { outcome: 'deduplicated', id: holder.id };
    after = withRow(after, newRow(now, limits, job));
    return { outcome: 'created', id: job.id };
  });
  return { table: after, report };
}

function newRow(now: Instant, limits: Limits, job: Enqueued): Row {
  return {
    ...limits,
    ...job,
    ...UNCLAIMED,
    state: 'pending',
    attempts: 0,
    claims: 0,
    crashes: 0,
    claimedBy: null,
    claimedAt: null,
    progress: null,
    result: null,
    errors: [],
    concurrencyKey: null,
    cancelRequestedAt: null,
    trace: null,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
  };
}
