/**
 * A job in two parts: the contract (`defineJob`), which web app and worker share, and the handler (`handle`), which
 * only the worker imports. The contract's `type` is a stable name that is written on rows; renaming it orphans them.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { checkContract, isFunctionAt, readOptions } from './check-arguments.ts';
import type { JobContext } from './context.ts';
import { DURATION_FORM, parseDuration, type Duration } from './core/durations.ts';
import {
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_MAX_CRASHES,
  LEASE_MS,
  MAX_ATTEMPTS,
  MAX_TYPE_BYTES,
  RETRY_BASE_MS,
  RETRY_MAX_MS,
  TIMEOUT_MS,
} from './core/limits.ts';
import type { RetryPolicy } from './core/retry-policy.ts';
import { InvalidOptionError } from './errors.ts';

export interface JobDefinition<Schema extends StandardSchemaV1> {
  /** `email.welcome`: letters, digits, dots, dashes and underscores; at most 200 bytes. */
  readonly type: string;
  /** Any Standard Schema (zod, valibot, arktype …). Checked at enqueue, parsed again in the worker. */
  readonly payload: Schema;
  /** How long a claim outlives its worker; 1 s to 1 h, 30 s by default. Renewed every third of it. */
  readonly lease?: Duration;
  /** How long one run may take; up to 7 d, 10 min by default. */
  readonly timeout?: Duration;
  /** Attempts before the job is dead; 1 to 1000, 25 by default. */
  readonly maxAttempts?: number;
  /** Attempts that may end with the death of their worker before the job is dead; 1 to 1000, 3 by default. */
  readonly maxCrashes?: number;
  /** The delay after attempt n is `base * 2^(n-1)`, at most `max`, of which a random half to whole. 2 s and 6 h by default. */
  readonly retry?: { readonly base?: Duration; readonly max?: Duration };
}

/** A job as web app and worker know it. Times in milliseconds. */
export interface JobContract<Schema extends StandardSchemaV1 = StandardSchemaV1> {
  readonly type: string;
  readonly payload: Schema;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly maxCrashes: number;
  readonly retry: RetryPolicy;
}

/** A contract and the function that does its work. */
export interface JobHandler<Schema extends StandardSchemaV1 = StandardSchemaV1> {
  readonly contract: JobContract<Schema>;
  run(payload: StandardSchemaV1.InferOutput<Schema>, context: JobContext): Promise<unknown>;
}

const DEFINITION = ['type', 'payload', 'lease', 'timeout', 'maxAttempts', 'maxCrashes', 'retry'] as const;
const RETRY = ['base', 'max'] as const;

/** @throws InvalidOptionError naming the field that is out of its range, or unknown. */
export function defineJob<Schema extends StandardSchemaV1>(
  definition: JobDefinition<Schema>,
): JobContract<Schema> {
  const read = readOptions('definition', definition, DEFINITION);
  const { type, payload, lease, timeout } = read;
  const retry = read.retry && readOptions('retry', read.retry, RETRY);
  if (typeof type !== 'string' || !/^[\w.-]+$/.test(type) || type.length > MAX_TYPE_BYTES) {
    throw new InvalidOptionError(
      'type',
      type,
      `letters, digits, ".", "-", "_", 1 to ${MAX_TYPE_BYTES} of them`,
    );
  }
  if (!isFunctionAt(payload, ['~standard', 'validate'])) {
    throw new InvalidOptionError('payload', payload, 'a Standard Schema');
  }
  const baseMs = milliseconds('retry.base', retry?.base, RETRY_BASE_MS);
  const maxMs = milliseconds('retry.max', retry?.max, {
    ...RETRY_MAX_MS,
    default: Math.max(baseMs, RETRY_MAX_MS.default),
  });
  if (maxMs < baseMs)
    throw new InvalidOptionError('retry.max', retry?.max, `at least retry.base (${baseMs} ms)`);
  return {
    type,
    payload,
    leaseMs: milliseconds('lease', lease, LEASE_MS),
    timeoutMs: milliseconds('timeout', timeout, TIMEOUT_MS),
    maxAttempts: attempts('maxAttempts', read.maxAttempts, DEFAULT_MAX_ATTEMPTS),
    maxCrashes: attempts('maxCrashes', read.maxCrashes, DEFAULT_MAX_CRASHES),
    retry: { baseMs, maxMs },
  };
}

/**
 * What the handler returns is kept as the job's `result`, made storable and bounded.
 * @throws InvalidOptionError
 */
export function handle<Schema extends StandardSchemaV1>(
  contract: JobContract<Schema>,
  run: JobHandler<Schema>['run'],
): JobHandler<Schema> {
  checkContract('contract', contract);
  if (typeof run !== 'function') throw new InvalidOptionError('run', run, 'a function');
  return { contract, run };
}

function milliseconds(
  field: string,
  value: unknown,
  range: { min: number; max: number; default: number },
): number {
  if (value === undefined) return range.default;
  const ms = parseDuration(value);
  if (ms === undefined) throw new InvalidOptionError(field, value, DURATION_FORM);
  if (ms < range.min || ms > range.max) {
    throw new InvalidOptionError(field, value, `${range.min} to ${range.max} ms`);
  }
  return ms;
}

function attempts(field: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (Number.isInteger(value) && value >= 1 && value <= MAX_ATTEMPTS) return value;
  throw new InvalidOptionError(field, value, `a whole number from 1 to ${MAX_ATTEMPTS}`);
}
