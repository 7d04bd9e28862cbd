/** What a claim brings back: rows as it left them, told in columns, in the order in which they are to be started. */
import type { Fence } from './fence.ts';

/** A row as its claim left it. Rows of one claim have its token in common; no other claim has it. */
export interface ClaimedJob extends Fence {
  readonly type: string;
  readonly payload: unknown;
  readonly priority: number;
  readonly runAt: string;
  readonly createdAt: string;
  readonly claimedAt: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly crashes: number;
  readonly dedupeKey: string | null;
  readonly progress: unknown;
  readonly trace: unknown;
  /** How long the job had been due when it was claimed, by the database's clock. */
  readonly waitedMs: number;
}

/** What all rows of a claim have in common. */
type OfTheClaim = Pick<ClaimedJob, 'claimToken' | 'claimedAt'>;

/** The claimed rows, a list a column; null where nothing was claimed. */
export type ClaimedColumns = OfTheClaim & {
  readonly [Field in Exclude<keyof ClaimedJob, keyof OfTheClaim>]: readonly ClaimedJob[Field][] | null;
};

export function claimedJobs(columns: ClaimedColumns): ClaimedJob[] {
  const { claimToken, claimedAt, id: ids, ...lists } = columns;
  if (ids === null) return [];
  const { type, payload, priority, runAt, createdAt, attempts, maxAttempts } = lists as Lists;
  const { claims, crashes, dedupeKey, progress, trace, waitedMs } = lists as Lists;
  return ids
    .map((id, n) => ({
      id,
      claimToken,
      type: type[n]!,
      payload: payload[n],
      priority: priority[n]!,
      runAt: runAt[n]!,
      createdAt: createdAt[n]!,
      claimedAt,
      attempts: attempts[n]!,
      maxAttempts: maxAttempts[n]!,
      claims: claims[n]!,
      crashes: crashes[n]!,
      dedupeKey: dedupeKey[n]!,
      progress: progress[n],
      trace: trace[n],
      waitedMs: waitedMs[n]!,
    }))
    .sort(byOrderOfStart);
}

/** The lists are null together. */
type Lists = {
  readonly [Field in Exclude<keyof ClaimedJob, keyof OfTheClaim>]: readonly ClaimedJob[Field][];
};

/** RETURNING has no order. Instants of one session are spelled alike, so that their text sorts as they do. */
function byOrderOfStart(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAt !== b.runAt) return a.runAt < b.runAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
