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

/** The claimed rows. What is told of each is a list, null where nothing was claimed. */
export type ClaimedColumns = Pick<ClaimedJob, 'claimToken' | 'claimedAt'> & {
  readonly [Field in OfEach]: readonly ClaimedJob[Field][] | null;
} & {
  /** By id; null where no row has anything to tell. */
  readonly [Field in OfSome]: Readonly<Record<string, ClaimedJob[Field]>> | null;
};

type OfEach = 'id' | 'type' | 'payload' | 'priority' | 'runAt' | 'attempts' | 'maxAttempts' | 'claims';
type OfSome = 'createdAt' | 'crashes' | 'dedupeKey' | 'progress' | 'trace';

export function claimedJobs(columns: ClaimedColumns): ClaimedJob[] {
  const { claimToken, claimedAt, id: ids } = columns;
  if (ids === null) return [];
  const { type, payload, priority, runAt, attempts, maxAttempts, claims } = columns as Lists;
  const { createdAt, crashes, dedupeKey, progress, trace } = columns;
  const claimedAtMs = Date.parse(claimedAt);
  return ids
    .map((id, n) => ({
      id,
      claimToken,
      type: type[n]!,
      payload: payload[n],
      priority: priority[n]!,
      runAt: runAt[n]!,
      createdAt: createdAt?.[id] ?? runAt[n]!,
      claimedAt,
      attempts: attempts[n]!,
      maxAttempts: maxAttempts[n]!,
      claims: claims[n]!,
      crashes: crashes?.[id] ?? 0,
      dedupeKey: dedupeKey?.[id] ?? null,
      progress: progress?.[id] ?? null,
      trace: trace?.[id] ?? null,
      // Instants that no Date can be, of years before the first, count as no wait.
      waitedMs: claimedAtMs - Date.parse(runAt[n]!) || 0,
    }))
    .sort(byOrderOfStart);
}

/** The lists are null together. */
type Lists = { readonly [Field in OfEach]: readonly ClaimedJob[Field][] };

/** RETURNING has no order. Instants of one session are spelled alike, so that their text sorts as they do. */
function byOrderOfStart(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAt !== b.runAt) return a.runAt < b.runAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
