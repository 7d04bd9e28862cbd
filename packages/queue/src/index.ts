/** What an app uses: contracts, enqueue, and reading, cancelling and retrying jobs. */
export type { JsonProblem } from './core/json.ts';
export type { Logger, QueueClient } from './client.ts';
export type { JobContext, RunningJob } from './context.ts';
export type { Duration } from './core/durations.ts';
export { JOB_STATES, PRIORITIES, type FinalState, type JobState, type Priority } from './core/states.ts';
export {
  enqueue,
  enqueueMany,
  type EnqueueItem,
  type EnqueueOptions,
  type EnqueueOutcome,
} from './enqueue.ts';
export * from './errors.ts';
export {
  countJobs,
  findJob,
  listJobs,
  readBacklog,
  type Backlog,
  type Job,
  type JobCount,
  type ListOptions,
} from './inspect.ts';
export { defineJob, handle, type JobContract, type JobDefinition, type JobHandler } from './job.ts';
export { cancel, retry, type CancelOutcome, type RetryOutcome } from './operate.ts';
export type { ErrorEntry } from './store/job-row.ts';
