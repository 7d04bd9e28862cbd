/** The context of one run: its fenced writes, and what happens when one of them finds the claim gone. */
import { checkClient } from './check-arguments.ts';
import type { QueueClient } from './client.ts';
import type { JobContext, RunningJob } from './context.ts';
import { storableJson } from './core/json.ts';
import { MAX_PROGRESS_BYTES, MAX_RESULT_BYTES } from './core/limits.ts';
import { priorityName } from './core/states.ts';
import { ClaimLostError } from './errors.ts';
import type { RunEnvironment, StopReason } from './run-environment.ts';
import type { FencedOp } from './fenced-write.ts';
import type { ClaimedJob } from './store/claim.ts';
import { completeJobs } from './store/complete.ts';
import { holdClaim } from './store/hold.ts';
import { writeProgress } from './store/progress.ts';

/** A renewal locks the row for a few milliseconds; whoever holds it longer costs this progress, not the run. */
const PROGRESS_TRIES = 10;
const PROGRESS_PAUSE_MS = 20;

export interface RunContext extends JobContext {
  completing(): boolean;
}

export function makeContext(
  job: ClaimedJob,
  { client, logger: workerLogger, timers, draining, onFenced }: RunEnvironment,
  signal: AbortSignal,
  stop: (reason: StopReason) => void,
): RunContext {
  const logger = workerLogger.child({ id: job.id, type: job.type, attempts: job.attempts });
  let completing = false;

  const loseClaim = (op: FencedOp, lost: unknown): never => {
    const error = new ClaimLostError(job.id, `${op} changed nothing`);
    onFenced({ op, job, lost });
    stop(error);
    throw error;
  };
  const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));

  return {
    job: runningJob(job),
    attempt: job.attempts,
    fence: job.claims,
    signal,
    draining,
    logger,
    completing: () => completing,

    progress(value) {
      const writing = writeProgressOf(value);
      // A loss is logged, counted and signalled by then. A handler that does not wait for its progress must not end
      // the process by it.
      writing.catch(() => {});
      return writing;
    },

    async complete(tx, result) {
      checkClient('tx', tx);
      if (!(await holdClaim(tx, job))) loseClaim('complete', result);
      completing = true;
      const { lost } = await completeJobs(tx, [{ ...job, result: storableJson(result, MAX_RESULT_BYTES) }]);
      if (lost.length > 0) loseClaim('complete', result);
    },

    async assertClaim(tx: QueueClient) {
      checkClient('tx', tx);
      if (!(await holdClaim(tx, job))) loseClaim('assert_claim', undefined);
    },
  };

  async function writeProgressOf(value: unknown): Promise<void> {
    const progress = storableJson(value, MAX_PROGRESS_BYTES);
    if (progress === null) return;
    const write = await writeOrLeave(progress);
    if (write === 'lost') loseClaim('progress', value);
    if (write === 'locked') logger.warn({}, 'progress not written: the row is locked');
  }

  async function writeOrLeave(progress: string) {
    try {
      for (let tries = 1; ; tries++) {
        const write = await writeProgress(client, job, progress);
        if (write !== 'locked' || tries === PROGRESS_TRIES) return write;
        await pause(PROGRESS_PAUSE_MS);
      }
    } catch (error) {
      logger.warn({ err: error }, 'progress not written');
      return 'failed';
    }
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
