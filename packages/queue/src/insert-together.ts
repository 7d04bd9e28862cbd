/**
 * Enqueues that are not part of a transaction, and that come at once, go into one statement: a commit costs next to the
 * same for one row as for twenty. Without a timer: while statements are under way, the next jobs gather.
 *
 * A job goes alone in somebody's transaction, because it is to commit or roll back with that; through a client with
 * extensions, which may tell callers apart; and with a dedupe key, because it may have to wait for the transaction that
 * holds the key.
 */
import type { QueueClient } from './client.ts';
import { insertJobs } from './store/insert.ts';
import type { NewJob, SharedByJobs } from './store/new-job.ts';
import { isAboutRows, sqlState } from './store/sql-state.ts';

/** A statement that takes longer, whatever holds it up, does not keep others from being sent. */
const PATIENCE_MS = 5_000;
/** A policy of row level security kept a row out. The same is said of a right that is missing altogether. */
const REFUSED_BY_POLICY = '42501';
/** One that is slow is not to hold up everybody; more of them would share the jobs out into smaller ones. */
const MOST_STATEMENTS = 2;
const MOST_JOBS = 500;
/** Of payloads, in UTF-16 units. A single job may have more. */
const MOST_CHARACTERS = 4_000_000;

interface Gathered {
  readonly job: NewJob;
  resolve(inserted: boolean): void;
  reject(error: unknown): void;
}

const gatherings = new WeakMap<QueueClient, Map<string, Gathering>>();

/**
 * Whether the client is no transaction's (only a client itself can be disconnected), and has no extensions: one of those
 * may choose tenant, role or transaction by the asynchronous context of the call, and a shared statement has only one.
 * What Prisma keeps of its extensions is not documented; where it is not found, nothing is gathered.
 */
export function mayGather(client: QueueClient, job: NewJob): boolean {
  const { $disconnect, _extensions } = client as {
    $disconnect?: unknown;
    _extensions?: { isEmpty?(): boolean };
  };
  const isPlain = typeof $disconnect === 'function' && _extensions?.isEmpty?.() === true;
  return isPlain && job.dedupeKey === null;
}

/**
 * False if the database took the statement and left this job out, as a trigger of the app's may.
 * Rejects with what the database has against this job, or with why it could not be asked.
 */
export function insertTogether(client: QueueClient, shared: SharedByJobs, job: NewJob): Promise<boolean> {
  const { type, maxAttempts, maxCrashes } = shared;
  const ofClient = gatherings.get(client) ?? new Map<string, Gathering>();
  gatherings.set(client, ofClient);
  const key = `${maxAttempts} ${maxCrashes} ${type}`;
  const gathering = ofClient.get(key) ?? new Gathering(client, { type, maxAttempts, maxCrashes });
  ofClient.set(key, gathering);
  return gathering.add(job);
}

class Gathering {
  readonly #client: QueueClient;
  readonly #shared: SharedByJobs;
  #gathered: Gathered[] = [];
  /** When the statements under way began. */
  readonly #underWay = new Set<{ since: number }>();

  constructor(client: QueueClient, shared: SharedByJobs) {
    this.#client = client;
    this.#shared = shared;
  }

  add(job: NewJob): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#gathered.push({ job, resolve, reject });
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    const statement = { since: performance.now() };
    const patientUntil = statement.since - PATIENCE_MS;
    if ([...this.#underWay].filter(({ since }) => since > patientUntil).length >= MOST_STATEMENTS) return;
    this.#underWay.add(statement);
    // What is enqueued in the same turn of the event loop goes together.
    await Promise.resolve();
    while (this.#gathered.length > 0) {
      statement.since = performance.now();
      await this.#insert(this.#next());
    }
    this.#underWay.delete(statement);
  }

  #next(): Gathered[] {
    let characters = 0;
    const end = this.#gathered.findIndex(
      ({ job }, n) => n === MOST_JOBS || ((characters += job.payload.length) > MOST_CHARACTERS && n > 0),
    );
    return this.#gathered.splice(0, end === -1 ? this.#gathered.length : end);
  }

  async #insert(gathered: readonly Gathered[]): Promise<void> {
    try {
      const jobs = gathered.map(({ job }) => job);
      const inserted = await insertJobs(this.#client, { ...this.#shared, jobs });
      for (const { job, resolve } of gathered) resolve(inserted.has(job.id));
    } catch (error) {
      if (gathered.length > 1 && (isAboutRows(error) || sqlState(error) === REFUSED_BY_POLICY)) {
        // One of them is what the database refuses. Each alone, so that it fails none of its neighbours.
        await Promise.all(gathered.map((one) => this.#insert([one])));
      } else {
        for (const { reject } of gathered) reject(error);
      }
    }
  }
}
