/** What a run is given by the process that it runs in, and why that process may tell it to stop. */
import type { Logger, QueueClient } from './client.ts';
import type { Deadlines } from './deadlines.ts';
import type { ClaimLostError, DrainDeadlineError, JobCancelledError, JobTimeoutError } from './errors.ts';
import type { FencedWrite } from './fenced-write.ts';
import type { Timers } from './timers.ts';

export interface RunEnvironment {
  readonly client: QueueClient;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Of the runs of this process, by the same timers. */
  readonly deadlines: Deadlines;
  /** Aborts when the worker begins to drain. */
  readonly draining: AbortSignal;
  /** Whether `ctx.complete(tx)` keeps the job's row or deletes it. */
  readonly keepCompleted: boolean;
  onFenced(write: FencedWrite): void;
}

export type StopReason = JobTimeoutError | JobCancelledError | ClaimLostError | DrainDeadlineError;
