/**
 * The loop: claim up to the free slots, dispatch without awaiting the work, sleep until something happens. It never
 * blocks on a job, and it knows nothing of leases, settlements or the sweep, which have lives of their own.
 */
import type { QueueClient } from '@fencepost/queue';
import { claimJobs, type ClaimedJob, type Wanted } from '@fencepost/queue/protocol';
import { createBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import { Doorbell } from './doorbell.ts';
import type { HeldRuns } from './held-runs.ts';
import { IdleLadder } from './idle-ladder.ts';
import { QueueHeads } from './queue-heads.ts';

/** When a job is due that the claim did not bring: it has just become due, or somebody else has its row locked. */
const OVERDUE = { firstMs: 20, maxMs: 1_000 };
/** Sleeps shorter than this end sooner than a look for the next due time would pay. */
const WORTH_A_LOOK_MS = 50;

export interface PollLoopOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly workerId: string;
  /** What one free slot may be filled with; `slots` is set by the loop. */
  readonly types: readonly Omit<Wanted, 'slots'>[];
  /** The longest sleep while idle, in milliseconds; asked anew for each. */
  readonly idleMs: () => number;
  dispatch(jobs: readonly ClaimedJob[], claimAskedAt: number): void;
  /** Takes back jobs whose claim committed after the loop was told to stop. */
  handBack(jobs: readonly ClaimedJob[], claimAskedAt: number): void;
}

export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #bell = new Doorbell();
  readonly #ladder: IdleLadder;
  readonly #overdue = createBackoff(OVERDUE);
  readonly #heads: QueueHeads;
  #stopping = false;
  #saturated = false;
  #tickedAt: number;
  #finished: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#ladder = new IdleLadder(options.idleMs);
    this.#heads = new QueueHeads({ ...options, types: options.types.map(({ type }) => type) });
    this.#tickedAt = options.clock.now();
  }

  start(): void {
    this.#finished = this.#run();
  }

  /** Something may be due. */
  wake(): void {
    this.#ladder.reset();
    this.#bell.ring();
  }

  /** A slot may be free: worth a look only if that was what was missing. */
  slotFreed(): void {
    if (this.#saturated && this.#options.held.free() > 0) this.#bell.ring();
  }

  /** Stops claiming. Resolves when the claim in flight, if there is one, has been answered and handed back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#bell.ring();
    await this.#finished;
  }

  /** Milliseconds since the loop last came round. */
  idleForMs(): number {
    return this.#options.clock.now() - this.#tickedAt;
  }

  async #run(): Promise<void> {
    const { clock, held } = this.#options;
    const backoff = createBackoff({ firstMs: 250, maxMs: 10_000 });
    while (!this.#stopping) {
      this.#tickedAt = clock.now();
      this.#bell.answer();
      try {
        const claimed = await this.#claim(held.free());
        backoff.reset();
        if (claimed > 0) this.#ladder.reset();
        this.#saturated = held.free() === 0;
        // What was claimed filled fewer slots than there are: perhaps more is due by now.
        if (claimed > 0 && !this.#saturated) continue;
        await this.#bell.wait(clock, await this.#sleepMs());
      } catch {
        // Logged and counted by the watch.
        await this.#rest(backoff.next());
      }
    }
  }

  /** The number of jobs claimed. */
  async #claim(capacity: number): Promise<number> {
    const { client, clock, database, workerId, types, dispatch, handBack } = this.#options;
    if (capacity === 0) return 0;
    const wanted = types.map((type) => ({ ...type, slots: capacity }));
    const from = await this.#heads.from();
    const askedAt = clock.now();
    const claiming = claimJobs(client, { workerId, wanted, capacity, from });
    try {
      const jobs = await database.run('claim', () => claiming);
      this.#heads.claimed(from, jobs, clock.now() - askedAt);
      if (jobs.length > 0) (this.#stopping ? handBack : dispatch)(jobs, askedAt);
      return jobs.length;
    } catch (error) {
      // Not waited for any longer; should it be answered all the same, nobody is to be left with its jobs.
      void claiming.then(
        (late) => handBack(late, askedAt),
        () => {},
      );
      throw error;
    }
  }

  async #sleepMs(): Promise<number> {
    if (this.#saturated) return this.#options.idleMs();
    const sleepMs = this.#ladder.next();
    if (sleepMs < WORTH_A_LOOK_MS) return sleepMs;
    const dueInMs = await this.#heads.nextDueInMs();
    if (dueInMs !== null && dueInMs <= 0) return Math.min(sleepMs, this.#overdue.next());
    this.#overdue.reset();
    return Math.min(sleepMs, this.#heads.sleepMs(), dueInMs === null ? Infinity : Math.ceil(dueInMs));
  }

  /** Sleeps through wake-ups, which cannot help while the database does not answer, but not through the drain. */
  async #rest(ms: number): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + ms;
    while (!this.#stopping && clock.now() < until) {
      this.#bell.answer();
      await this.#bell.wait(clock, until - clock.now());
    }
  }
}
