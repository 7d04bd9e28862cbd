/**
 * Every error class of the queue. Each has a stable `code`, to be matched on instead of the message, and a sentence
 * that says what was wrong, what was found and what is allowed.
 */
export type FencepostErrorCode =
  | 'CLAIM_LOST'
  | 'COMPLETION_ROLLED_BACK'
  | 'DEDUPE_CONTENTION'
  | 'DISCARD'
  | 'DRAIN_DEADLINE'
  | 'DUPLICATE_HANDLER'
  | 'INVALID_OPTION'
  | 'INVALID_PAYLOAD'
  | 'JOB_CANCELLED'
  | 'JOB_TIMEOUT'
  | 'MISSING_TOKEN'
  | 'RUNAWAY_JOBS'
  | 'SCHEMA_FAILED'
  | 'SNOOZE';

export abstract class FencepostError extends Error {
  abstract readonly code: FencepostErrorCode;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A value that the queue was given is not one that it takes. */
export class InvalidOptionError extends FencepostError {
  readonly code = 'INVALID_OPTION';
  readonly field: string;
  readonly found: unknown;

  constructor(field: string, found: unknown, allowed: string) {
    super(`${field}: expected ${allowed}, found ${describe(found)}`);
    this.field = field;
    this.found = found;
  }
}

/** One thing that is wrong with a payload, and where: `user.tags[3]`, or `payload` for the whole. */
export interface PayloadIssue {
  readonly path: string;
  readonly message: string;
}

/** A payload does not fit its contract, or holds what JSON or jsonb cannot. Nothing was written. */
export class InvalidPayloadError extends FencepostError {
  readonly code = 'INVALID_PAYLOAD';
  readonly type: string;
  readonly issues: readonly PayloadIssue[];

  constructor(type: string, issues: readonly PayloadIssue[]) {
    super(`payload of ${type}: ${issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ')}`);
    this.type = type;
    this.issues = issues;
  }
}

/**
 * A contract's schema threw, or answered with neither a value nor issues: nobody knows whether the payload is good. Its
 * `cause` is what was thrown. Nothing was written.
 */
export class PayloadSchemaError extends FencepostError {
  readonly code = 'SCHEMA_FAILED';
  readonly type: string;

  constructor(type: string, detail: string, cause: unknown) {
    super(`payload of ${type}: expected its schema to answer with a value or issues, found ${detail}`, {
      cause,
    });
    this.type = type;
  }
}

/**
 * This claim no longer owns the row: a write of its run changed nothing. It says no more than that, because no more is
 * known. The reason of a run's signal, and what `ctx.complete`, `ctx.assertClaim` and `ctx.progress` throw.
 */
export class ClaimLostError extends FencepostError {
  readonly code = 'CLAIM_LOST';
  readonly id: string;

  constructor(id: string, detail: string) {
    super(`this claim no longer owns job ${id}: ${detail}`);
    this.id = id;
  }
}

/** A fenced write was asked for without a token. Prisma drops an undefined condition, which would unfence the write. */
export class MissingTokenError extends FencepostError {
  readonly code = 'MISSING_TOKEN';

  constructor(field: string, found: unknown) {
    super(`a fenced write needs the claim's ${field}: expected a UUID, found ${describe(found)}`);
  }
}

/** The run took longer than its contract's `timeout`. The attempt is settled as failed. */
export class JobTimeoutError extends FencepostError {
  readonly code = 'JOB_TIMEOUT';

  constructor(type: string, timeoutMs: number) {
    super(`${type} ran longer than its timeout of ${timeoutMs} ms`);
  }
}

/** Somebody cancelled the job while it ran. */
export class JobCancelledError extends FencepostError {
  readonly code = 'JOB_CANCELLED';

  constructor(id: string) {
    super(`job ${id} was cancelled while it ran`);
  }
}

/** The worker's drain reached its deadline: the job is handed back, uncharged, and another worker starts it anew. */
export class DrainDeadlineError extends FencepostError {
  readonly code = 'DRAIN_DEADLINE';

  constructor() {
    super('the worker is stopping and its drain has reached its deadline');
  }
}

/** Thrown by a handler: trying again is of no use. The job is dead, with this error on its row. */
export class DiscardError extends FencepostError {
  readonly code = 'DISCARD';
}

/** Thrown by a handler: not now. The job is pending again after the delay, and the attempt is not charged. */
export class SnoozeError extends FencepostError {
  readonly code = 'SNOOZE';
  /** As given; the executor reads it. */
  readonly delay: number | string;

  /** @param delay milliseconds, or a duration such as `'5m'`; `0` hands the job back at once. */
  constructor(delay: number | string) {
    super(`snoozed for ${delay}`);
    this.delay = delay;
  }
}

/**
 * The handler called `ctx.complete(tx)` and returned, but the row says that the transaction did not commit. Its writes
 * are gone, so that the attempt has failed.
 */
export class CompletionRolledBackError extends FencepostError {
  readonly code = 'COMPLETION_ROLLED_BACK';

  constructor(id: string) {
    super(`job ${id} was completed in a transaction that did not commit`);
  }
}

/** Two handlers for one type: which of them would run is not for the queue to choose. */
export class DuplicateHandlerError extends FencepostError {
  readonly code = 'DUPLICATE_HANDLER';

  constructor(type: string) {
    super(`two handlers for ${type}: expected one handler a type`);
  }
}

/** There is no end to the jobs that `runDueJobs` was to run: one that makes itself due again, for instance. */
export class RunawayJobsError extends FencepostError {
  readonly code = 'RUNAWAY_JOBS';

  constructor(type: string, rounds: number) {
    super(`${type} and maybe others are still due: expected an end within ${rounds} rounds of runDueJobs`);
  }
}

/** Jobs with this dedupe key kept appearing and finishing while this one was being enqueued. Try again. */
export class DedupeContentionError extends FencepostError {
  readonly code = 'DEDUPE_CONTENTION';

  constructor(type: string, tries: number) {
    super(`${type}: jobs with the same dedupe key came and went ${tries} times during one enqueue`);
  }
}

/** Whatever it is: a proxy may throw at any look at it. */
function describe(value: unknown): string {
  try {
    if (typeof value === 'bigint') return `${cut(String(value))}n`;
    if (typeof value === 'string') return JSON.stringify(cut(value));
    if (value === null || typeof value === 'number' || typeof value === 'boolean' || value === undefined) {
      return String(value);
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
    return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
  } catch {
    return 'a value that cannot be read';
  }
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
