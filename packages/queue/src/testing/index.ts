/**
 * For the tests of an app: runs jobs that are due, here and now, through the production claim, executor and fence.
 * There is no other way to run a job, and so nothing that a test could get right and production wrong.
 */
import type { Logger, QueueClient } from '../client.ts';
import { decide, type Outcome } from '../core/decide.ts';
import { describeThrown } from '../core/thrown.ts';
import { ClaimLostError, RunawayJobsError } from '../errors.ts';
import { checkClient } from '../check-arguments.ts';
import { Deadlines } from '../deadlines.ts';
import { startRun, type Run } from '../execute.ts';
import { handlersByType } from '../handlers-by-type.ts';
import type { Timers } from '../timers.ts';
import type { JobHandler } from '../job.ts';
import { settleRuns } from '../settle-runs.ts';
import { claimJobs } from '../store/claim.ts';

export interface FinishedJob {
  readonly id: string;
  readonly type: string;
  readonly outcome: Outcome;
}

/**
 * Runs what is due and has a handler, round by round until nothing is left; jobs that these enqueue are run as well.
 * @throws RunawayJobsError if there is no end to it.
 */
export async function runDueJobs(
  client: QueueClient,
  handlers: readonly JobHandler[],
): Promise<FinishedJob[]> {
  checkClient('client', client);
  const byType = handlersByType(handlers);
  const finished: FinishedJob[] = [];
  for (let rounds = 1; ; rounds++) {
    const round = await runDueBatch(client, byType);
    if (round.length === 0) return finished;
    finished.push(...round);
    if (rounds === MAX_ROUNDS) throw new RunawayJobsError(round[0]?.type ?? '', MAX_ROUNDS);
  }
}

const BATCH = 100;
/** A job that snoozes for no time, or enqueues itself, is due in every round. */
const MAX_ROUNDS = 100;

async function runDueBatch(
  client: QueueClient,
  byType: ReadonlyMap<string, JobHandler>,
): Promise<FinishedJob[]> {
  const wanted = [...byType.values()].map(({ contract }) => ({ ...contract, slots: BATCH }));
  const jobs = await claimJobs(client, { workerId: 'test', wanted, capacity: BATCH });

  const environment = {
    client,
    logger: SILENT,
    timers: TIMERS,
    deadlines: new Deadlines(TIMERS),
    draining: NEVER,
    // A test looks at what became of its jobs.
    keepCompleted: true,
    onFenced: () => {},
  };
  return Promise.all(
    jobs.map(async (job) => {
      const run = startRun(job, byType.get(job.type)!, environment);
      const outcome = await settle(client, run, await run.outcome);
      return { id: job.id, type: job.type, outcome };
    }),
  );
}

/** A row that is locked is tried again after this. */
const LOCKED_PAUSE_MS = 20;

/** What became of the run: of one that called `ctx.complete(tx)`, or that lost its claim, only the row knows. */
async function settle(client: QueueClient, run: Run, outcome: Outcome): Promise<Outcome> {
  const { job } = run;
  const settled = { ...job, settlement: decide(outcome, job), completing: run.completing() };
  for (;;) {
    const { lost, locked, completed = [] } = await settleRuns(client, [settled]);
    if (completed.length > 0) return { outcome: 'completed', result: null };
    if (lost.length > 0) {
      const error = new ClaimLostError(job.id, 'its settlement changed nothing');
      return { outcome: 'failed', kind: 'claim_lost', thrown: describeThrown(error) };
    }
    if (locked.length === 0) return outcome;
    await new Promise<void>((resolve) => void TIMERS.after(LOCKED_PAUSE_MS, resolve));
  }
}

const NEVER = new AbortController().signal;

const SILENT: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => SILENT,
};

const TIMERS: Timers = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
