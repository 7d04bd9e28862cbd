/**
 * Writes what runs came to, many in one statement: at once where nothing was written a moment ago, and else what ends
 * until then goes along. While a settlement is under way the next one gathers. So one run alone is settled immediately,
 * and ten thousand a second in hundreds.
 *
 * Bookkeeping is not the work: a database that fails here is never a job's failure, and nothing that has run is run
 * again for it. The settlement is tried again for the length of a lease, and then left to the sweep. What cannot be
 * written yet is put aside, so that it holds up nothing else.
 */
import type { Logger, QueueClient } from '@fencepost/queue';
import {
  isAboutRows,
  nameOf,
  settleRuns,
  sqlState,
  type SettledRuns,
  type Settlement,
} from '@fencepost/queue/protocol';
import { createBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { ReportFenced } from './fenced.ts';
import type { HeldRun, HeldRuns } from './held-runs.ts';
import type { Metrics } from './metrics.ts';
import { PendingSettlement } from './pending-settlement.ts';
import { wholeBatch } from './whole-batch.ts';

/** From one statement to the next: one costs next to the same for fifty runs as for one, and no slot waits for it. */
const APART_MS = 5;

export interface SettleBatcherOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly metrics: Metrics;
  readonly reportFenced: ReportFenced;
  readonly keepCompleted: boolean;
}

export class SettleBatcher {
  readonly #options: SettleBatcherOptions;
  readonly #backoff = createBackoff({ firstMs: 50, maxMs: 1_000 });
  readonly #wholeBatch: number;
  #gathering: PendingSettlement[] = [];
  #aside: PendingSettlement[] = [];
  /** By the worker's clock. */
  #sentAt = -Infinity;
  /** Statements under way, and the one that what gathers is waiting for. */
  #writing = 0;
  /** The database takes no settlement at all: nothing is sent before the next try. */
  #failing = false;
  #retryIsSet = false;

  constructor(options: SettleBatcherOptions) {
    this.#options = options;
    this.#wholeBatch = wholeBatch(options.held.capacity);
  }

  add(held: HeldRun, settlement: Settlement): void {
    held.ended = true;
    const pending = new PendingSettlement(held, settlement, this.#options.clock.now());
    if (this.#failing) return void this.#aside.push(pending);
    this.#gathering.push(pending);
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#writing > 0 && !this.#isWorthASecond()) return;
    this.#writing += 1;
    // What ends in the same turn of the event loop goes together.
    await Promise.resolve();
    for (;;) {
      await this.#gather();
      const least = this.#writing === 1 ? 1 : this.#wholeBatch;
      if (this.#gathering.length < least) break;
      await this.#write(this.#nextBatch());
    }
    this.#writing -= 1;
    if (this.#writing === 0 && this.#aside.length === 0) this.#backoff.reset();
  }

  /** Beside a statement under way only a whole batch is: fewer had better gather. */
  #isWorthASecond(): boolean {
    return this.#writing === 1 && this.#gathering.length >= this.#wholeBatch;
  }

  /** Until it is time for the next statement. A whole batch is sent meanwhile, beside this. */
  async #gather(): Promise<void> {
    const { clock } = this.#options;
    const waitMs = this.#sentAt + APART_MS - clock.now();
    const [first] = this.#gathering;
    const isWhole = this.#gathering.length >= this.#wholeBatch;
    // The one beside another sends whole batches alone, and leaves the waiting to that.
    if (this.#writing > 1 || waitMs <= 0 || first === undefined || first.alone || isWhole) return;
    await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
  }

  #nextBatch(): PendingSettlement[] {
    const alone = this.#gathering.findIndex((pending) => pending.alone);
    if (alone === 0) return this.#gathering.splice(0, 1);
    return this.#gathering.splice(0, alone === -1 ? this.#wholeBatch : Math.min(alone, this.#wholeBatch));
  }

  async #write(batch: readonly PendingSettlement[]): Promise<void> {
    const { client, clock, database, keepCompleted } = this.#options;
    this.#sentAt = clock.now();
    const settle = () => settleRuns(client, batch, { keepCompleted });
    try {
      this.#written(batch, await database.run('settle', settle));
    } catch (error) {
      for (const pending of batch) pending.sent = true;
      if (!isAboutRows(error)) {
        this.#putAside([...batch, ...this.#gathering.splice(0)]);
        this.#failing = this.#aside.length > 0;
      } else if (batch.length > 1) {
        // One row of them is what the database refuses. Each alone, so that it holds up no other.
        for (const pending of batch) pending.alone = true;
        this.#gathering.push(...batch);
      } else if (isAboutData(sqlState(error)!)) {
        this.#abandon(batch, 'the database refuses it');
      } else {
        this.#putAside(batch);
      }
    }
  }

  #written(batch: readonly PendingSettlement[], { lost, locked, completed = [] }: SettledRuns): void {
    const exceptions = new Map([
      ...lost.map((fence) => [nameOf(fence), 'lost'] as const),
      ...locked.map((fence) => [nameOf(fence), 'locked'] as const),
      ...completed.map((fence) => [nameOf(fence), 'completed'] as const),
    ]);
    const later: PendingSettlement[] = [];
    for (const pending of batch) {
      const { held, settlement } = pending;
      const exception = exceptions.size > 0 ? exceptions.get(nameOf(pending)) : undefined;
      switch (exception) {
        case undefined:
          this.#settled(held, settlement);
          break;
        case 'completed':
          this.#settled(held, COMPLETED);
          break;
        case 'lost':
          this.#lost(pending);
          break;
        case 'locked':
          later.push(pending);
      }
    }
    // A locked row still has its claim, and the sweep passes it by: there is no hurry to give up.
    for (const pending of later) pending.since = this.#options.clock.now();
    this.#putAside(later);
  }

  #settled(held: HeldRun, settlement: Settlement): void {
    const { metrics, logger } = this.#options;
    const { id, type, attempts, maxAttempts, claims } = held.job;
    metrics.settled.inc({ type, settle: settlement.settle });
    this.#options.held.settled(held);
    if (settlement.settle === 'complete' && logger.isLevelEnabled?.('debug') === false) return;
    const fields = { id, type, attempts, claims };
    switch (settlement.settle) {
      case 'complete':
        return logger.debug(fields, 'job completed');
      case 'retry':
        return logger.warn({ ...fields, maxAttempts, error: settlement.error }, 'attempt failed');
      case 'bury':
        return logger.error({ ...fields, maxAttempts, error: settlement.error }, 'job is dead');
      case 'cancel':
        return logger.info(fields, 'job cancelled');
      case 'snooze':
        return logger.info({ ...fields, delayMs: settlement.delayMs }, 'job snoozed');
      case 'release':
        return logger.info(fields, 'job handed back');
    }
  }

  #lost({ held, settlement }: PendingSettlement): void {
    this.#options.reportFenced({ op: 'settle', job: held.job, lost: settlement });
    this.#options.held.settled(held);
  }

  /** To be tried again in a while; gives up those for which the length of their lease has passed. */
  #putAside(batch: readonly PendingSettlement[]): void {
    const { clock } = this.#options;
    const now = clock.now();
    const isOver = ({ held, since }: PendingSettlement) => now - since > held.leaseMs;
    this.#abandon(batch.filter(isOver), 'the database has not taken it for a whole lease');
    this.#aside.push(...batch.filter((pending) => !isOver(pending)));
    if (this.#aside.length === 0 || this.#retryIsSet) return;
    this.#retryIsSet = true;
    clock.after(this.#backoff.next(), () => {
      this.#retryIsSet = false;
      this.#failing = false;
      this.#gathering.push(...this.#aside.splice(0));
      void this.#work();
    });
  }

  #abandon(batch: readonly PendingSettlement[], why: string): void {
    const { logger, metrics, held: runs } = this.#options;
    for (const { held, settlement } of batch) {
      const { id, type, claimToken } = held.job;
      metrics.abandoned.inc();
      runs.settled(held);
      logger.error({ id, type, claimToken, settlement, why }, 'settlement not written, left to the sweep');
    }
  }
}

/** Of a run whose transaction had completed the job, or whose first settlement had. */
const COMPLETED: Settlement = { settle: 'complete', result: null };

/** 22 (data exception) and 23 (constraint violation): trying the same again cannot help. */
function isAboutData(state: string): boolean {
  return /^2[23]/.test(state);
}
