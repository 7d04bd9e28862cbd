/**
 * A worker of the soak, put together as main.ts does it, with the soak's handlers. Its settings are its argument. At
 * its end it says what it had counted, for what it logged to be held against.
 */
import { createPgClient, createPrisma, type PoolOptions, type PrismaClient } from '@fencepost/db';
import { createLogger, endOn } from '@fencepost/service';
import { systemClock, within } from '../src/clock.ts';
import { createMetrics } from '../src/metrics.ts';
import { startLeaseThread } from '../src/start-lease-thread.ts';
import { startStatusServer } from '../src/status-server.ts';
import { startWatchdog } from '../src/watchdog.ts';
import { createWorker } from '../src/worker.ts';
import { SWEEP_INTERVAL_MS } from './contracts.ts';
import { soakHandlers } from './handlers.ts';
import { COUNTED } from './messages.ts';
import { moveClockOnSignal } from './moving-clock.ts';

export interface SoakWorkerSettings {
  readonly url: string;
  /** The worker's id, and the first word of what its connections are called. */
  readonly name: string;
  readonly keepCompleted: boolean;
}

const CONCURRENCY = 10;
const DRAIN_TIMEOUT_MS = 2_000;
const CLOSE_MS = 2_000;

moveClockOnSignal();
const { url, name, keepCompleted } = JSON.parse(process.argv[2] ?? '{}') as SoakWorkerSettings;
// Where no row is left to tell, the log has to say which claims count as completions.
const logger = createLogger('worker', keepCompleted ? 'info' : 'debug');
const metrics = createMetrics();
const queuePrisma = connect('queue', { poolSize: 4, fixedPlans: true });
const handlerPrisma = connect('handlers', { poolSize: CONCURRENCY });

const worker = createWorker({
  prisma: queuePrisma,
  renewal: () => startLeaseThread(url),
  handlers: soakHandlers(handlerPrisma),
  concurrency: CONCURRENCY,
  logger,
  metrics,
  workerId: name,
  listen: (onError) => createPgClient(url, { applicationName: `${name} wake-ups`, onError }),
  pollIntervalMs: 1_000,
  sweepIntervalMs: SWEEP_INTERVAL_MS,
  retentionMs: 86_400_000,
  keepCompleted,
});
const status = await startStatusServer(0, metrics, worker.health);
const end = endOn(process, {
  logger,
  async stop() {
    await worker.drain({ timeoutMs: DRAIN_TIMEOUT_MS });
    watchdog.stop();
    await within(systemClock, CLOSE_MS, Promise.all([status.close(), handlerPrisma.$disconnect()]));
    await within(systemClock, CLOSE_MS, queuePrisma.$disconnect());
    logger.info(await counted(), COUNTED);
  },
  hurry: worker.hurry,
});
const watchdog = startWatchdog(systemClock, logger, worker.health, (problems) => {
  logger.fatal({ problems }, 'worker stays unhealthy');
  end(1);
});
worker.start();
logger.info({ port: status.port }, 'status server listening');

async function counted() {
  const fenced = (await metrics.fenced.get()).values.map(({ labels, value }) => [labels.op, value]);
  const failures = (await metrics.databaseErrors.get()).values;
  const claimsFailed = failures.find(({ labels }) => labels.statement === 'claim')?.value ?? 0;
  return { fenced: Object.fromEntries(fenced), claimsFailed };
}

function connect(part: string, options: PoolOptions): PrismaClient {
  return createPrisma(url, {
    ...options,
    // As main.ts has it for the queue; and handlers that wait for ever belong to another part of the soak.
    queryTimeoutMs: 10_000,
    applicationName: `${name} ${part}`,
    onPoolError: (error) => logger.warn({ err: error, part }, 'idle database connection lost'),
  });
}
