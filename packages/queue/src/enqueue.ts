/** Enqueue: – → pending, in the caller's own transaction, so that a job exists exactly if that transaction committed. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { checkClient, checkContract, readOptions } from './check-arguments.ts';
import type { QueueClient } from './client.ts';
import { DURATION_FORM, parseDuration, type Duration } from './core/durations.ts';
import { encodeJson } from './core/json.ts';
import {
  MAX_DELAY_MS,
  MAX_ENQUEUE_BATCH,
  MAX_ENQUEUE_BYTES,
  MAX_KEY_BYTES,
  MAX_PAYLOAD_BYTES,
} from './core/limits.ts';
import { PRIORITIES, type Priority } from './core/states.ts';
import { DedupeContentionError, InvalidOptionError, InvalidPayloadError } from './errors.ts';
import { insertTogether, mayGather } from './insert-together.ts';
import type { JobContract } from './job.ts';
import { newId } from './new-id.ts';
import { parsePayload } from './payload.ts';
import { findDuplicates } from './store/find-duplicates.ts';
import { insertJobsWithKeys } from './store/insert-with-keys.ts';
import { insertJobs } from './store/insert.ts';
import type { NewJob } from './store/new-job.ts';

export interface EnqueueOptions {
  /** Not before this instant. */
  readonly runAt?: Date;
  /** Not before so long from now, by the database's clock. Instead of `runAt`. */
  readonly delay?: Duration;
  /** `normal` by default. */
  readonly priority?: Priority;
  /** While a job of this type with this key is unfinished, no second one is made. At most 512 bytes. */
  readonly dedupeKey?: string;
}

/** What became of one enqueue. `id` is the new job's, or that of the unfinished one that has the key. */
export type EnqueueOutcome =
  | { readonly outcome: 'created'; readonly id: string }
  | { readonly outcome: 'deduplicated'; readonly id: string };

export interface EnqueueItem<Payload> extends EnqueueOptions {
  readonly payload: Payload;
}

const OPTIONS = ['runAt', 'delay', 'priority', 'dedupeKey'] as const;
const ITEM = [...OPTIONS, 'payload'] as const;

/**
 * Enqueues one job. Outside a transaction, jobs of one type that are enqueued at once share a statement.
 *
 * @param client the transaction that the job is to commit or roll back with, or the client itself. It is always named:
 *   a method added with `$extends` would leave the transaction without a word.
 * @throws InvalidPayloadError if the payload does not fit the contract, or cannot be stored; nothing was written.
 * @throws InvalidOptionError naming the option; nothing was written.
 * @throws PayloadSchemaError if the contract's schema itself fails; nothing was written.
 */
export async function enqueue<Schema extends StandardSchemaV1>(
  client: QueueClient,
  contract: JobContract<Schema>,
  payload: StandardSchemaV1.InferInput<Schema>,
  options: EnqueueOptions = {},
): Promise<EnqueueOutcome> {
  const read = readOptions('options', options, OPTIONS);
  checkClient('client', client);
  checkContract('contract', contract);
  const job = await newJob(contract, { ...read, payload }, '');
  if (mayGather(client, job) && (await insertTogether(client, contract, job))) {
    return { outcome: 'created', id: job.id };
  }
  const [outcome] = await insertOrFind(client, contract, [job]);
  return outcome!;
}

/**
 * Enqueues up to 10,000 jobs of one type, and 64 MiB of payloads, in one statement; outcomes in the order of `items`.
 * All or none: one bad item throws before anything is written.
 *
 * @throws InvalidPayloadError, InvalidOptionError as `enqueue`, with the item's index in the field.
 */
export async function enqueueMany<Schema extends StandardSchemaV1>(
  client: QueueClient,
  contract: JobContract<Schema>,
  items: readonly EnqueueItem<StandardSchemaV1.InferInput<Schema>>[],
): Promise<EnqueueOutcome[]> {
  checkClient('client', client);
  checkContract('contract', contract);
  if (!Array.isArray(items)) throw new InvalidOptionError('items', items, 'a list');
  if (items.length > MAX_ENQUEUE_BATCH) {
    throw new InvalidOptionError('items.length', items.length, `at most ${MAX_ENQUEUE_BATCH}`);
  }
  const jobs: NewJob[] = [];
  let bytes = 0;
  // As they are before the first schema takes its time: the caller may change its list meanwhile.
  for (const [index, item] of [...items].entries()) {
    const at = items.length === 1 ? '' : `items[${index}].`;
    const made = newJob(contract, readOptions(`items[${index}]`, item, ITEM), at);
    const job = made instanceof Promise ? await made : made;
    jobs.push(job);
    bytes += Buffer.byteLength(job.payload);
    if (bytes > MAX_ENQUEUE_BYTES) {
      throw new InvalidOptionError('items', bytes, `at most ${MAX_ENQUEUE_BYTES} bytes of payloads together`);
    }
  }
  return insertOrFind(client, contract, jobs);
}

/** Enough for a key that changes hands: each further try needs a job to appear and to finish during one statement. */
const TRIES = 20;

/** Those that were not inserted met an unfinished job with their key; if that one has finished since, they try again. */
async function insertOrFind(client: QueueClient, contract: JobContract, jobs: readonly NewJob[]) {
  const outcomes = new Map<string, EnqueueOutcome>();
  let open = jobs;
  for (let tries = 0; open.length > 0; tries++) {
    if (tries === TRIES) throw new DedupeContentionError(contract.type, TRIES);
    const insert = open.some((job) => job.dedupeKey !== null) ? insertJobsWithKeys : insertJobs;
    const created = await insert(client, { ...contract, jobs: open });
    for (const id of created) outcomes.set(id, { outcome: 'created', id });

    open = open.filter((job) => !created.has(job.id));
    if (open.length === 0) break;
    const keys = new Set(open.flatMap((job) => job.dedupeKey ?? []));
    const holders = await findDuplicates(client, contract.type, [...keys]);
    for (const job of open) {
      const id = holders.get(job.dedupeKey ?? '');
      if (id !== undefined) outcomes.set(job.id, { outcome: 'deduplicated', id });
    }
    open = open.filter((job) => !outcomes.has(job.id));
  }
  return jobs.map((job) => outcomes.get(job.id)!);
}

/** A promise only where the schema takes its time, or has something against the payload: see parsePayload. */
function newJob(contract: JobContract, item: EnqueueItem<unknown>, at: string): NewJob | Promise<NewJob> {
  const encoded = encodeJson(item.payload, MAX_PAYLOAD_BYTES);
  if (encoded.outcome === 'refused') throw new InvalidPayloadError(contract.type, encoded.problems);
  const make = (): NewJob => {
    const { runAtMs, delayMs, priority } = schedule(item, at);
    return { id: newId(), payload: encoded.json, priority, runAtMs, delayMs, dedupeKey: dedupeKey(item, at) };
  };
  // What will be stored is what is checked: a Date that the worker would get as text is refused here, not there.
  const parsed = parsePayload(contract, JSON.parse(encoded.json));
  return parsed instanceof Promise ? parsed.then(make) : make();
}

function schedule({ runAt, delay, priority }: EnqueueOptions, at: string) {
  if (runAt !== undefined && delay !== undefined) {
    throw new InvalidOptionError(`${at}delay`, delay, 'nothing beside runAt');
  }
  const delayMs = delay === undefined ? 0 : parseDuration(delay);
  if (delayMs === undefined) throw new InvalidOptionError(`${at}delay`, delay, DURATION_FORM);
  if (delayMs > MAX_DELAY_MS) throw new InvalidOptionError(`${at}delay`, delay, `at most ${MAX_DELAY_MS} ms`);
  return { runAtMs: runAt === undefined ? null : instant(runAt, at), delayMs, priority: level(priority, at) };
}

/** Further than people plan, and well inside what Postgres and JavaScript can both spell. */
const INSTANTS = { min: Date.UTC(1970, 0, 1), max: Date.UTC(2200, 0, 1) };

function instant(runAt: Date, at: string): number {
  const ms = timeOf(runAt);
  if (ms >= INSTANTS.min && ms <= INSTANTS.max) return ms;
  throw new InvalidOptionError(`${at}runAt`, runAt, 'a Date from 1970 to 2200');
}

/** By the method of Date itself, which refuses whatever only looks like one. */
function timeOf(date: Date): number {
  try {
    return Date.prototype.getTime.call(date);
  } catch {
    return Number.NaN;
  }
}

function level(priority: Priority | undefined, at: string): number {
  if (priority === undefined) return PRIORITIES.normal;
  if (typeof priority === 'string' && Object.hasOwn(PRIORITIES, priority)) return PRIORITIES[priority];
  throw new InvalidOptionError(`${at}priority`, priority, `one of ${Object.keys(PRIORITIES).join(', ')}`);
}

function dedupeKey({ dedupeKey: key }: EnqueueOptions, at: string): string | null {
  if (key === undefined) return null;
  const storable = typeof key === 'string' && key.isWellFormed() && !key.includes('\0');
  if (storable && key.length > 0 && Buffer.byteLength(key) <= MAX_KEY_BYTES) return key;
  throw new InvalidOptionError(
    `${at}dedupeKey`,
    key,
    `1 to ${MAX_KEY_BYTES} bytes of text without NUL or lone surrogates`,
  );
}
