/**
 * What every worker does for all of them, apart from the loop, so that neither a saturated worker nor a failing sweep
 * stands in the other's way: the sweep of leases that ran out, the cleanup of finished jobs, the looks at the backlog and
 * at what holds back vacuum.
 * Several workers at once do no harm: each takes what the others have not locked.
 */
import { readBacklog, type Backlog, type Logger, type QueueClient } from '@fencepost/queue';
import { deleteFinished, reclaimJobs } from '@fencepost/queue/protocol';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { Metrics } from './metrics.ts';
import { RepeatedTask } from './repeated-task.ts';
import { VacuumWatch } from './vacuum-watch.ts';

const SWEEP_BATCH = 100;
const CLEANUP_BATCH = 1_000;
const CLEANUP_INTERVAL_MS = 60_000;
const BACKLOG_INTERVAL_MS = 15_000;
/** The look at the backlog reads every pending job: with millions of them, it is to take a hundredth of the time. */
const BACKLOG_SHARE = 100;
const VACUUM_INTERVAL_MS = 60_000;

export interface MaintenanceOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly database: DatabaseWatch;
  readonly metrics: Metrics;
  readonly sweepIntervalMs: number;
  /** How long finished jobs are kept. */
  readonly retentionMs: number;
  readonly random?: () => number;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #random: () => number;
  readonly #tasks: RepeatedTask[];
  readonly #sweeping: RepeatedTask;
  #backlog: readonly Backlog[] = [];
  #backlogTookMs = 0;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#sweeping = this.#every(
      () => options.sweepIntervalMs,
      () => this.#sweep(),
    );
    const vacuum = new VacuumWatch(options);
    this.#tasks = [
      this.#sweeping,
      this.#every(
        () => CLEANUP_INTERVAL_MS,
        () => this.#cleanUp(),
      ),
      this.#every(
        () => Math.max(BACKLOG_INTERVAL_MS, BACKLOG_SHARE * this.#backlogTookMs),
        () => this.#lookAtBacklog(),
      ),
      this.#every(
        () => VACUUM_INTERVAL_MS,
        () => vacuum.look(),
      ),
    ];
  }

  start(): void {
    for (const task of this.#tasks) task.start();
  }

  /** Resolves when what was under way has ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  /** The connection was away: leases may have run out meanwhile. */
  sweepNow(): void {
    this.#sweeping.now();
  }

  /** Milliseconds since a sweep last went through. */
  sinceSweepMs(): number {
    return this.#sweeping.sinceSuccessMs();
  }

  /** The pending jobs by type, as of the last look. */
  backlog(): readonly Backlog[] {
    return this.#backlog;
  }

  /** In batches, until one comes back short: a fleet that died at once is taken up by the first sweep after it. */
  async #sweep(): Promise<void> {
    const { client, database, logger, metrics } = this.#options;
    for (;;) {
      const jobs = await database.run('reclaim', () => reclaimJobs(client, SWEEP_BATCH));
      for (const job of jobs) {
        metrics.reclaimed.inc({ type: job.type, state: job.state });
        logger.warn(job, 'job reclaimed: the lease of its worker ran out');
      }
      if (jobs.length < SWEEP_BATCH) return;
    }
  }

  async #cleanUp(): Promise<void> {
    const { client, database, logger, metrics, retentionMs } = this.#options;
    for (;;) {
      const deleted = await database.run('cleanup', () => deleteFinished(client, retentionMs, CLEANUP_BATCH));
      metrics.deleted.inc(deleted);
      if (deleted > 0) logger.info({ deleted, retentionMs }, 'finished jobs deleted');
      if (deleted < CLEANUP_BATCH) return;
    }
  }

  async #lookAtBacklog(): Promise<void> {
    const { client, clock, database, metrics } = this.#options;
    const startedAt = clock.now();
    this.#backlog = await database.run('backlog', () => readBacklog(client));
    this.#backlogTookMs = clock.now() - startedAt;
    metrics.backlog.reset();
    metrics.oldestDue.reset();
    for (const { type, due, scheduled, oldestDueMs } of this.#backlog) {
      metrics.backlog.set({ type, when: 'due' }, due);
      metrics.backlog.set({ type, when: 'scheduled' }, scheduled);
      metrics.oldestDue.set({ type }, oldestDueMs / 1_000);
    }
  }

  #every(intervalMs: () => number, work: () => Promise<void>): RepeatedTask {
    return new RepeatedTask(this.#options.clock, () => intervalMs() * (0.75 + this.#random() / 2), work);
  }
}
