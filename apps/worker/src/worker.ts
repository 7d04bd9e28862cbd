/** Puts a worker together: which part tells which, and nothing else. */
import type { JobHandler, Logger, QueueClient } from '@fencepost/queue';
import { Deadlines, handlersByType } from '@fencepost/queue/protocol';
import type pg from 'pg';
import { checkOptions } from './check-options.ts';
import { systemClock, type Clock } from './clock.ts';
import { DatabaseWatch } from './database-watch.ts';
import { Dispatcher } from './dispatcher.ts';
import { drain } from './drain.ts';
import { createFencedReport } from './fenced.ts';
import { checkHealth, type HealthReport } from './health.ts';
import { HeldRuns } from './held-runs.ts';
import { POLL_WITHOUT_LISTEN_MS } from './idle-ladder.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { LeaseRenewal } from './lease-messages.ts';
import { Maintenance } from './maintenance.ts';
import type { Metrics } from './metrics.ts';
import { PollLoop } from './poll-loop.ts';
import { SettleBatcher } from './settle-batcher.ts';
import { Wake } from './wake.ts';

export interface WorkerOptions {
  /**
   * For the queue's own statements, but renewals. Handlers had better have another client: one that holds every
   * connection of a shared pool would keep their outcomes from being written.
   */
  readonly prisma: QueueClient;
  /** Starts whoever renews the leases: `startLeaseThread`, so that no handler can hold it up. */
  readonly renewal: () => LeaseRenewal;
  readonly handlers: readonly JobHandler[];
  /** Jobs in flight at once. */
  readonly concurrency: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Unique per boot; written on the rows that it claims. */
  readonly workerId: string;
  /** A new `pg` client for LISTEN; undefined where there is no LISTEN to be had. */
  readonly listen: ((onError: (error: Error) => void) => pg.Client) | undefined;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  readonly retentionMs: number;
  /**
   * Completed jobs are kept for the retention, which is the default. False deletes each as it completes: cheaper, and
   * there is nothing left to look at. Dead and cancelled jobs are kept either way.
   */
  readonly keepCompleted?: boolean;
  readonly clock?: Clock;
}

export interface Worker {
  start(): void;
  /** One drain, however often it is called; later calls wait for the same one. Never rejects. */
  drain(options: { readonly timeoutMs: number }): Promise<void>;
  /** Ends the drain's wait for runs at once; what is left is still handed back. */
  hurry(): void;
  health(): HealthReport;
}

/** @throws InvalidOptionError, DuplicateHandlerError */
export function createWorker(options: WorkerOptions): Worker {
  checkOptions(options);
  const { prisma: client, logger, metrics, workerId, clock = systemClock, keepCompleted = true } = options;
  const handlers = handlersByType(options.handlers);
  const draining = new AbortController();
  const held = new HeldRuns(options.concurrency, () => loop.slotFreed());
  const database = new DatabaseWatch({ clock, logger, metrics });
  const reportFenced = createFencedReport(logger, metrics);
  const batcher = new SettleBatcher({
    ...{ client, clock, logger, held, database, metrics, reportFenced, keepCompleted },
  });
  const keeper = new LeaseKeeper({ ...options, clock, held, database, reportFenced });
  const maintenance = new Maintenance({ ...options, client, clock, database });
  metrics.slots.set(options.concurrency);
  metrics.observeRunning(() => held.taken);

  const loop = new PollLoop({
    client,
    clock,
    held,
    database,
    workerId,
    types: options.handlers.map(({ contract }) => contract),
    idleMs: () =>
      wake?.listening ? options.pollIntervalMs : Math.min(options.pollIntervalMs, POLL_WITHOUT_LISTEN_MS),
    dispatch: (jobs, claimAskedAt) => dispatcher.dispatch(jobs, claimAskedAt),
    handBack: (jobs, claimAskedAt) => dispatcher.handBack(jobs, claimAskedAt),
  });

  const wake =
    options.listen &&
    new Wake({
      connect: options.listen,
      clock,
      logger,
      onDue: () => loop.wake(),
      onCancel: () => keeper.renewSoon(),
      onListening() {
        metrics.listening.set(1);
        maintenance.sweepNow();
        loop.wake();
        keeper.renewSoon();
      },
      onSilence() {
        metrics.listening.set(0);
        // It may be asleep for as long as wake-ups would have allowed.
        loop.wake();
      },
    });

  const environment = {
    client,
    logger,
    timers: clock,
    deadlines: new Deadlines(clock),
    draining: draining.signal,
    keepCompleted,
    onFenced: reportFenced,
  };
  const dispatcher = new Dispatcher({ ...options, clock, held, keeper, batcher, handlers, environment });

  let hurry = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });
  let drained: Promise<void> | undefined;

  return {
    start() {
      maintenance.start();
      wake?.start();
      void keeper.start().then(() => {
        if (draining.signal.aborted) return;
        loop.start();
        logger.info({ types: [...handlers.keys()], concurrency: options.concurrency }, 'worker started');
      });
    },
    drain({ timeoutMs }) {
      const parts = { clock, logger, loop, dispatcher, held, keeper, maintenance, wake, draining };
      drained ??= drain(parts, timeoutMs, hurried);
      return drained;
    },
    hurry,
    health: () =>
      checkHealth({
        ...{ clock, loop, held, database, maintenance },
        handledTypes: new Set(handlers.keys()),
        pollIntervalMs: options.pollIntervalMs,
        listening: () => wake?.listening ?? false,
        draining: () => draining.signal.aborted,
      }),
  };
}
