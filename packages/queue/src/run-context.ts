/**
 * The context of one run: its fenced writes, and what happens when one of them finds the claim gone.
 *
 * What a handler may never look at (its logger, the dates of its job, its signal) is made when it does. Getters, so that
 * a handler can take the context apart: `async (payload, { progress, signal }) => …`.
 */
import { checkClient } from './check-arguments.ts';
import type { QueueClient } from './client.ts';
import type { JobContext, RunningJob } from './context.ts';
import { storableJson } from './core/json.ts';
import { MAX_PROGRESS_BYTES, MAX_RESULT_BYTES } from './core/limits.ts';
import { priorityName } from './core/states.ts';
import { ClaimLostError } from './errors.ts';
import type { RunEnvironment } from './run-environment.ts';
import type { FencedOp } from './fenced-write.ts';
import type { StopSignal } from './stop-signal.ts';
import type { ClaimedJob } from './store/claimed-jobs.ts';
import { completeJobs } from './store/complete.ts';
import { deleteClaimed } from './store/delete-claimed.ts';
import { holdClaim } from './store/hold.ts';
import { writeProgress } from './store/progress.ts';

/** A renewal locks the row for a few milliseconds; whoever holds it longer costs this progress, not the run. */
const PROGRESS_TRIES = 10;
const PROGRESS_PAUSE_MS = 20;

export class RunContext implements JobContext {
  readonly #claimed: ClaimedJob;
  readonly #environment: RunEnvironment;
  readonly #stopping: Pick<StopSignal, 'signal' | 'stop'>;
  #job: RunningJob | undefined;
  #logger: JobContext['logger'] | undefined;
  #completing = false;

  constructor(
    claimed: ClaimedJob,
    environment: RunEnvironment,
    stopping: Pick<StopSignal, 'signal' | 'stop'>,
  ) {
    this.#claimed = claimed;
    this.#environment = environment;
    this.#stopping = stopping;
  }

  get job(): RunningJob {
    return (this.#job ??= runningJob(this.#claimed));
  }

  get attempt(): number {
    return this.#claimed.attempts;
  }

  get fence(): number {
    return this.#claimed.claims;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get draining(): AbortSignal {
    return this.#environment.draining;
  }

  get logger(): JobContext['logger'] {
    const { id, type, attempts } = this.#claimed;
    return (this.#logger ??= this.#environment.logger.child({ id, type, attempts }));
  }

  get progress(): JobContext['progress'] {
    return (value) => {
      const writing = this.#writeProgress(value);
      // A loss is logged, counted and signalled by then. A handler that does not wait for its progress must not end
      // the process by it.
      writing.catch(() => {});
      return writing;
    };
  }

  get complete(): JobContext['complete'] {
    return async (tx, result) => {
      checkClient('tx', tx);
      const job = this.#claimed;
      if (!this.#environment.keepCompleted) return this.#completeAndDelete(tx, result);
      if (!(await holdClaim(tx, job))) this.#loseClaim('complete', result);
      this.#completing = true;
      const { lost } = await completeJobs(tx, [{ ...job, result: storableJson(result, MAX_RESULT_BYTES) }]);
      if (lost.length > 0) this.#loseClaim('complete', result);
    };
  }

  get assertClaim(): JobContext['assertClaim'] {
    return async (tx: QueueClient) => {
      checkClient('tx', tx);
      if (!(await holdClaim(tx, this.#claimed))) this.#loseClaim('assert_claim', undefined);
    };
  }

  /** True once `complete` was called and has found the claim. */
  completing(): boolean {
    return this.#completing;
  }

  /** The result goes with the row. */
  async #completeAndDelete(tx: QueueClient, result: unknown): Promise<void> {
    if (!(await deleteClaimed(tx, this.#claimed))) this.#loseClaim('complete', result);
    this.#completing = true;
  }

  #loseClaim(op: FencedOp, lost: unknown): never {
    const error = new ClaimLostError(this.#claimed.id, `${op} changed nothing`);
    this.#environment.onFenced({ op, job: this.#claimed, lost });
    this.#stopping.stop(error);
    throw error;
  }

  async #writeProgress(value: unknown): Promise<void> {
    const progress = storableJson(value, MAX_PROGRESS_BYTES);
    if (progress === null) return;
    const write = await this.#writeOrLeave(progress);
    if (write === 'lost') this.#loseClaim('progress', value);
    if (write === 'locked') this.logger.warn({}, 'progress not written: the row is locked');
  }

  async #writeOrLeave(progress: string) {
    try {
      for (let tries = 1; ; tries++) {
        const write = await writeProgress(this.#environment.client, this.#claimed, progress);
        if (write !== 'locked' || tries === PROGRESS_TRIES) return write;
        await this.#pause(PROGRESS_PAUSE_MS);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'progress not written');
      return 'failed';
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#environment.timers.after(ms, resolve));
  }
}

function runningJob(job: ClaimedJob): RunningJob {
  const { id, type, attempts, maxAttempts, claims, crashes, dedupeKey, progress } = job;
  return {
    ...{ id, type, attempts, maxAttempts, claims, crashes, dedupeKey, progress },
    priority: priorityName(job.priority),
    runAt: new Date(job.runAt),
    createdAt: new Date(job.createdAt),
    claimedAt: new Date(job.claimedAt),
  };
}
