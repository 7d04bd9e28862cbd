/** What a handler is given beside its payload. */
import type { Logger, QueueClient } from './client.ts';
import type { Priority } from './core/states.ts';

/** The claimed row, as far as a handler may care. */
export interface RunningJob {
  /** Stable over all attempts: the idempotency key to hand to the outside. */
  readonly id: string;
  readonly type: string;
  readonly priority: Priority;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly crashes: number;
  readonly dedupeKey: string | null;
  readonly runAt: Date;
  readonly createdAt: Date;
  /** When this attempt began, by the database's clock. */
  readonly claimedAt: Date;
  /** What the last run that got so far wrote with `ctx.progress`; null if none did. */
  readonly progress: unknown;
}

/** Its parts may be taken out of it, `{ signal, progress }`; a copy made by spreading it has none of them. */
export interface JobContext {
  readonly job: RunningJob;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Grows with every claim of the job and is never given back: hand it to the outside, which can refuse a smaller one. */
  readonly fence: number;
  /**
   * Aborts when this run must stop: its reason is a `JobTimeoutError`, `JobCancelledError`, `ClaimLostError` or
   * `DrainDeadlineError`. Hand it to fetch and the like.
   */
  readonly signal: AbortSignal;
  /**
   * Aborts when the worker begins to drain. A long handler then saves where it is with `progress` and throws
   * `new SnoozeError(0)`: the job goes back uncharged, and the next worker goes on from there.
   */
  readonly draining: AbortSignal;
  readonly logger: Logger;
  /**
   * Writes how far the run has come, at most 64 KiB of JSON, made storable. A database that fails is logged and never
   * fails the job. Inside a transaction that holds the row (`assertClaim`), it is logged and left out as well.
   * @throws ClaimLostError if this claim no longer owns the row.
   */
  progress(value: unknown): Promise<void>;
  /**
   * Completes the job inside the handler's own transaction: what `tx` writes is committed only if this claim still
   * holds the row then, so that its effects in Postgres happen exactly once. Return soon after the commit. A worker that
   * keeps nothing deletes the job's row with it: `tx` finds it no more, and the result is kept nowhere.
   * @throws ClaimLostError if this claim no longer owns the row; let it roll the transaction back.
   */
  complete(tx: QueueClient, result?: unknown): Promise<void>;
  /**
   * Holds the row to the end of `tx`: until then nobody can take the claim. For transactions before the last one.
   * While the row is held its lease cannot be renewed, so that a transaction is to take less than half a lease.
   * @throws ClaimLostError if this claim no longer owns the row; let it roll the transaction back.
   */
  assertClaim(tx: QueueClient): Promise<void>;
}
