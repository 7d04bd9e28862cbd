/**
 * Writes what runs came to, many in one statement, without a timer: at once while nothing is under way, and while a
 * settlement is, the next one gathers. So one run alone is settled immediately, and a thousand a second in hundreds.
 *
 * Bookkeeping is not the work: a database that fails here is never a job's failure, and nothing that has run is run
 * again for it. The settlement is tried again until the lease is over, and then left to the sweep.
 */
import type { Logger, QueueClient } from '@fencepost/queue';
import { settleRuns, sqlState, type Fence, type SettledRun, type Settlement } from '@fencepost/queue/protocol';
import { createBackoff } from './backoff.ts';
import { pause, type Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { ReportFenced } from './fenced.ts';
import { leaseIsOver, type HeldRun, type HeldRuns } from './held-runs.ts';
import type { Metrics } from './metrics.ts';

/** Beyond this the statement's cost a row no longer falls. */
const MAX_BATCH = 500;
/** A row locked by somebody's transaction is tried again after this. */
const LOCKED_PAUSE_MS = 50;

interface Pending {
  readonly held: HeldRun;
  readonly settlement: Settlement;
}

export interface SettleBatcherOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly metrics: Metrics;
  readonly reportFenced: ReportFenced;
}

export class SettleBatcher {
  readonly #options: SettleBatcherOptions;
  #gathering: Pending[] = [];
  #working = false;

  constructor(options: SettleBatcherOptions) {
    this.#options = options;
  }

  add(held: HeldRun, settlement: Settlement): void {
    held.ended = true;
    this.#gathering.push({ held, settlement });
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    const waits = {
      failed: createBackoff({ firstMs: 100, maxMs: 5_000 }),
      locked: createBackoff({ firstMs: 50, maxMs: 1_000 }),
    };
    // What ends in the same turn of the event loop goes together.
    await Promise.resolve();
    while (this.#gathering.length > 0) {
      const { left, wait } = await this.#attempt(this.#gathering.splice(0, MAX_BATCH));
      this.#gathering.unshift(...left);
      if (wait === undefined) waits.failed.reset();
      // Rows that are locked wait alone: what has gathered behind them goes first.
      if (wait === 'failed' || (wait === 'locked' && left.length === this.#gathering.length)) {
        await pause(this.#options.clock, waits[wait].next());
      }
      if (wait === 'locked') this.#gathering.push(...this.#gathering.splice(0, left.length));
    }
    this.#working = false;
  }

  async #attempt(batch: readonly Pending[]): Promise<{ left: Pending[]; wait: 'failed' | 'locked' | undefined }> {
    try {
      const locked = await this.#settle(batch);
      return { left: locked, wait: locked.length > 0 ? 'locked' : undefined };
    } catch (error) {
      if (!isAboutData(error)) return { left: this.#withLease(batch), wait: 'failed' };
      if (batch.length === 1) return this.#abandon(batch, 'the database refuses it');
      // One row of them is what the database refuses. Each alone, so that it holds up no other.
      const left: Pending[] = [];
      for (const pending of batch) left.push(...(await this.#attempt([pending])).left);
      return { left, wait: left.length > 0 ? 'failed' : undefined };
    }
  }

  /** The ones to be tried again, because somebody else had their rows locked. */
  async #settle(batch: readonly Pending[]): Promise<Pending[]> {
    const { client, database } = this.#options;
    const { lost, locked } = await database.run('settle', () => settleRuns(client, batch.map(toSettledRun)));
    const lostTokens = tokens(lost);
    const lockedTokens = tokens(locked);
    const again: Pending[] = [];
    for (const pending of batch) {
      const { claimToken } = pending.held.job;
      if (lockedTokens.has(claimToken)) again.push(pending);
      else if (lostTokens.has(claimToken)) this.#lost(pending);
      else this.#settled(pending);
    }
    return again;
  }

  #settled({ held, settlement }: Pending): void {
    const { metrics, logger } = this.#options;
    const { id, type, attempts, maxAttempts, claims } = held.job;
    metrics.settled.inc({ type, settle: settlement.settle });
    this.#options.held.settled(held);
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

  #lost({ held, settlement }: Pending): void {
    this.#options.reportFenced({ op: 'settle', job: held.job, lost: settlement });
    this.#options.held.settled(held);
  }

  #withLease(batch: readonly Pending[]): Pending[] {
    const now = this.#options.clock.now();
    this.#abandon(batch.filter(({ held }) => leaseIsOver(held, now)), 'the lease is over');
    return batch.filter(({ held }) => !leaseIsOver(held, now));
  }

  #abandon(batch: readonly Pending[], why: string): { left: []; wait: undefined } {
    const { logger, metrics, held: runs } = this.#options;
    for (const { held, settlement } of batch) {
      const { id, type, claimToken } = held.job;
      metrics.abandoned.inc();
      runs.settled(held);
      logger.error({ id, type, claimToken, settlement, why }, 'settlement not written, left to the sweep');
    }
    return { left: [], wait: undefined };
  }
}

function toSettledRun({ held: { job, run }, settlement }: Pending): SettledRun {
  const { id, claimToken, claims } = job;
  return { id, claimToken, claims, settlement, completing: run.completing() };
}

function tokens(fences: readonly Fence[]): Set<string> {
  return new Set(fences.map((fence) => fence.claimToken));
}

/** Postgres's classes 22 (data exception) and 23 (constraint violation): trying the same again cannot help. */
function isAboutData(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}
