/** Reading jobs, from any process. */
import { checkClient, readOptions } from './check-arguments.ts';
import type { QueueClient } from './client.ts';
import { JOB_STATES, priorityName, type JobState, type Priority } from './core/states.ts';
import { InvalidOptionError } from './errors.ts';
import { checkedId } from './ids.ts';
import type { ErrorEntry, JobRow } from './store/job-row.ts';
import { selectBacklog, type Backlog } from './store/backlog.ts';
import { selectCounts, type JobCount } from './store/count-jobs.ts';
import { selectJob } from './store/select-job.ts';
import { selectJobs } from './store/select-jobs.ts';

export type { Backlog } from './store/backlog.ts';
export type { JobCount } from './store/count-jobs.ts';

/** A job as its row tells it. The claim's token is not shown: whoever has it can write. */
export interface Job {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly state: JobState;
  readonly priority: Priority;
  readonly runAt: Date;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly crashes: number;
  readonly maxCrashes: number;
  readonly lockUntil: Date | null;
  readonly claimedBy: string | null;
  readonly claimedAt: Date | null;
  readonly progress: unknown;
  readonly result: unknown;
  readonly errors: readonly ErrorEntry[];
  readonly dedupeKey: string | null;
  readonly cancelRequestedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly finishedAt: Date | null;
}

/**
 * A job by id; undefined if there is none (cleaned up, rolled back, never made).
 * @throws InvalidOptionError if `id` is no UUID.
 */
export async function findJob(client: QueueClient, id: string): Promise<Job | undefined> {
  checkClient('client', client);
  const row = await selectJob(client, checkedId('id', id));
  return row && readRow(row);
}

export interface ListOptions {
  readonly type?: string;
  /** All states by default. */
  readonly states?: readonly JobState[];
  /** The last id of the page before this one. */
  readonly before?: string;
  /** 1 to 500; 50 by default. */
  readonly limit?: number;
}

const OPTIONS = ['type', 'states', 'before', 'limit'] as const;

/**
 * Jobs, the youngest first.
 * @throws InvalidOptionError naming the option.
 */
export async function listJobs(client: QueueClient, options: ListOptions = {}): Promise<Job[]> {
  checkClient('client', client);
  const { type, states = JOB_STATES, before, limit = 50 } = readOptions('options', options, OPTIONS);
  if (type !== undefined && (typeof type !== 'string' || type.includes('\0'))) {
    throw new InvalidOptionError('type', type, 'text without NUL');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new InvalidOptionError('limit', limit, 'a whole number from 1 to 500');
  }
  if (!Array.isArray(states)) throw new InvalidOptionError('states', states, 'a list');
  for (const state of states) {
    if (!JOB_STATES.includes(state))
      throw new InvalidOptionError('states', state, `some of ${JOB_STATES.join(', ')}`);
  }
  const rows = await selectJobs(client, {
    type: type ?? null,
    states,
    before: before === undefined ? null : checkedId('before', before),
    limit,
  });
  return rows.map(readRow);
}

/** The pending jobs by type. Reads every one of them: not for each scrape of the metrics. */
export async function readBacklog(client: QueueClient): Promise<Backlog[]> {
  checkClient('client', client);
  return selectBacklog(client);
}

/** Every job of the table, by type and state. Reads the whole table: for people, not for each scrape of the metrics. */
export async function countJobs(client: QueueClient): Promise<JobCount[]> {
  checkClient('client', client);
  return selectCounts(client);
}

function readRow(row: JobRow): Job {
  const { id, type, payload, state, attempts, maxAttempts, claims, crashes, maxCrashes } = row;
  const { claimedBy, progress, result, errors, dedupeKey } = row;
  return {
    ...{ id, type, payload, state, attempts, maxAttempts, claims, crashes, maxCrashes },
    ...{ claimedBy, progress, result, errors, dedupeKey },
    priority: priorityName(row.priority),
    runAt: new Date(row.runAt),
    lockUntil: date(row.lockUntil),
    claimedAt: date(row.claimedAt),
    cancelRequestedAt: date(row.cancelRequestedAt),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    finishedAt: date(row.finishedAt),
  };
}

function date(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
