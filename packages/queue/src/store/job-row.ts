import type { JobState } from '../core/states.ts';
import type { ErrorKind } from '../core/decide.ts';

/** A row as to_jsonb spells it. Instants carry their offset, so that no session's time zone shifts them. */
export interface JobRow {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly state: JobState;
  readonly priority: number;
  readonly runAt: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly crashes: number;
  readonly maxCrashes: number;
  readonly lockUntil: string | null;
  readonly claimedBy: string | null;
  readonly claimedAt: string | null;
  readonly progress: unknown;
  readonly result: unknown;
  readonly errors: readonly ErrorEntry[];
  readonly dedupeKey: string | null;
  readonly cancelRequestedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly finishedAt: string | null;
}

/** An attempt that did not finish. */
export interface ErrorEntry {
  readonly attempt: number;
  /** ISO 8601, UTC, by the database's clock. */
  readonly at: string;
  readonly kind: ErrorKind;
  readonly worker: string | null;
  readonly message: string;
  readonly stack: string | null;
}
