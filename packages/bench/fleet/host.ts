/**
 * A process with many workers, each put together as the worker's own main.ts does it: a pool, a thread and a connection
 * for its leases, a connection for wake-ups, the defaults of the settings. What the workers of a process share is Node's
 * main thread and the counters. Its settings are its argument; it says when all of them are up, and drains on `drain`.
 */
import { createPgClient, createPrisma } from '@fencepost/db';
import { handle } from '@fencepost/queue';
import { createMetrics, createWorker, startLeaseThread, type Worker } from '@fencepost/worker';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { wait } from './contracts.ts';

export interface HostSettings {
  /** For everything but wake-ups: the database, or a pooler before it. */
  readonly url: string;
  readonly directUrl: string;
  readonly name: string;
  readonly workers: number;
  readonly slots: number;
  readonly pool: number;
}

export interface HostReport {
  readonly say: 'up' | 'drained';
  /** Of the whole process, in bytes. */
  readonly residentSet: number;
}

/** The defaults of the worker's settings. */
const INTERVALS = { pollIntervalMs: 5_000, sweepIntervalMs: 10_000, retentionMs: 7 * 24 * 3_600_000 };
const QUEUE_STATEMENT_MS = 10_000;
const DRAIN_TIMEOUT_MS = 1_000;

const settings = JSON.parse(process.argv[2] ?? '{}') as HostSettings;
const logger = pino({ name: settings.name, level: 'warn' }, pino.destination({ fd: 2, sync: true }));
const metrics = createMetrics();
const handler = handle(wait, async ({ ms }, { signal }) => sleep(ms, undefined, { signal }));
const ends: (() => Promise<void>)[] = [];

process.on('message', (message) => {
  if (message === 'drain') void drain();
});
// Whoever started it is gone.
const abandoned = () => process.exit(1);
process.on('disconnect', abandoned);

// One after the other: a thousand threads that start at once time each other out.
for (let nth = 0; nth < settings.workers; nth++) await start(nth);
report('up');

async function start(nth: number): Promise<void> {
  const { url, directUrl, slots, pool, name } = settings;
  const prisma = createPrisma(url, {
    applicationName: 'fleet queue',
    poolSize: pool,
    queryTimeoutMs: QUEUE_STATEMENT_MS,
    fixedPlans: true,
    onPoolError: (error) => logger.warn({ err: error }, 'idle database connection lost'),
  });
  const worker: Worker = createWorker({
    ...INTERVALS,
    prisma,
    renewal: () => startLeaseThread(url),
    handlers: [handler],
    concurrency: slots,
    logger,
    metrics,
    workerId: `${name}-${nth}`,
    listen: (onError) => createPgClient(directUrl, { applicationName: 'fleet wake-ups', onError }),
  });
  ends.push(async () => {
    await worker.drain({ timeoutMs: DRAIN_TIMEOUT_MS });
    await prisma.$disconnect();
  });
  worker.start();
  while (!worker.health().listening) await sleep(10);
}

async function drain(): Promise<void> {
  await Promise.all(ends.map((end) => end()));
  report('drained');
  process.off('disconnect', abandoned);
  process.disconnect();
}

function report(say: HostReport['say']): void {
  process.send!({ say, residentSet: process.memoryUsage.rss() } satisfies HostReport);
}
