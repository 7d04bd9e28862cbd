/**
 * The loop: claim for the free slots and a little ahead of them, dispatch without awaiting the work, sleep until something
 * happens. It never blocks on a job, and it knows nothing of leases, settlements or the sweep, which have lives of their
 * own.
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
import { wholeBatch } from './whole-batch.ts';

/** When a job is due that the claim did not bring: it has just become due, or somebody else has its row locked. */
const OVERDUE = { firstMs: 20, maxMs: 1_000 };
/** Sleeps shorter than this end sooner than a look for the next due time would pay. */
const WORTH_A_LOOK_MS = 50;

/** Every claim is answered or given up before this. */
const ANY_ANSWER_MS = 60_000;

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
  readonly #failing = createBackoff({ firstMs: 250, maxMs: 10_000 });
  readonly #heads: QueueHeads;
  readonly #wholeBatch: number;
  /** Claims under way. */
  readonly #claims = new Set<Promise<void>>();
  /** Jobs that they may bring. */
  #asked = 0;
  /** How many claims may be under way: none before a sleep, one while there are jobs, two while claims come back full. */
  #lanes = 1;
  #restMs = 0;
  #stopping = false;
  #saturated = false;
  #tickedAt: number;
  #finished: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#ladder = new IdleLadder(options.idleMs);
    this.#heads = new QueueHeads({ ...options, types: options.types.map(({ type }) => type) });
    this.#wholeBatch = wholeBatch(options.held.capacity);
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
    if (this.#saturated && this.#room() > 0) this.#bell.ring();
  }

  /** Stops claiming. Resolves when the claims in flight, if there are any, have been answered and handed back. */
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
    const { clock } = this.#options;
    while (!this.#stopping) {
      this.#tickedAt = clock.now();
      this.#bell.answer();
      const room = this.#room();
      this.#saturated = room === 0;
      if (room > 0 && this.#claims.size < this.#lanes) this.#startClaim(room);
      else if (this.#claims.size > 0) await this.#bell.wait(clock, ANY_ANSWER_MS);
      else await this.#sleep();
    }
    await Promise.allSettled(this.#claims);
  }

  /**
   * How many jobs to claim. Slots that become free one by one are waited for until there are some, as long as none
   * stands empty meanwhile: a claim costs next to the same for one job as for ten.
   */
  #room(): number {
    const { held } = this.#options;
    const room = Math.min(this.#wholeBatch, held.room() - this.#asked);
    if (this.#claims.size > 0) return room === this.#wholeBatch ? room : 0;
    return held.isIdle() || room > held.ahead.jobs / 2 ? Math.max(0, room) : 0;
  }

  #startClaim(capacity: number): void {
    this.#asked += capacity;
    const claim = this.#claim(capacity)
      .then((lanes) => {
        this.#lanes = lanes;
      })
      .finally(() => {
        this.#claims.delete(claim);
        this.#asked -= capacity;
        this.#bell.ring();
      });
    this.#claims.add(claim);
  }

  /** How many claims may be under way after this one. */
  async #claim(capacity: number): Promise<number> {
    const { clock, held, dispatch, handBack } = this.#options;
    let answer: { jobs: ClaimedJob[]; askedAt: number };
    try {
      answer = await this.#ask(capacity);
    } catch {
      // Logged and counted by the watch.
      this.#restMs = this.#failing.next();
      return 0;
    }
    const { jobs, askedAt } = answer;
    this.#failing.reset();
    this.#restMs = 0;
    held.ahead.claimed(clock.now() - askedAt);
    if (jobs.length === 0) return 0;
    this.#ladder.reset();
    // What is thrown here is a fault of this program: nobody handles it, and so it ends the process in order.
    (this.#stopping ? handBack : dispatch)(jobs, askedAt);
    return jobs.length === this.#wholeBatch ? 2 : 1;
  }

  async #ask(capacity: number): Promise<{ jobs: ClaimedJob[]; askedAt: number }> {
    const { client, clock, database, workerId, types, handBack } = this.#options;
    const wanted = types.map((type) => ({ ...type, slots: capacity }));
    const start = await this.#heads.start();
    const askedAt = clock.now();
    const claiming = claimJobs(client, { workerId, wanted, capacity, from: start.from });
    try {
      const jobs = await database.run('claim', () => claiming);
      this.#heads.claimed(start, jobs, { capacity, tookMs: clock.now() - askedAt });
      return { jobs, askedAt };
    } catch (error) {
      this.#heads.failed(start, clock.now() - askedAt);
      // Not waited for any longer; should it be answered all the same, nobody is to be left with its jobs.
      void claiming.then(
        (late) => handBack(late, askedAt),
        () => {},
      );
      throw error;
    }
  }

  async #sleep(): Promise<void> {
    const restMs = this.#restMs;
    this.#restMs = 0;
    try {
      if (restMs > 0) await this.#rest(restMs);
      else await this.#bell.wait(this.#options.clock, await this.#sleepMs());
    } catch {
      this.#restMs = this.#failing.next();
      return;
    }
    this.#lanes = Math.max(1, this.#lanes);
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
