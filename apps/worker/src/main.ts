/** The worker process: settings in, parts put together, and an end with 0 only after a drain that was asked for. */
import { randomUUID } from 'node:crypto';
import { ConfigError, createLogger, endOn } from '@fencepost/service';
import {
  createPgClient,
  createPrisma,
  parseDatabaseUrl,
  type PrismaClient,
  type PoolOptions,
} from '@fencepost/db';
import type { Logger } from 'pino';
import { systemClock, within } from './clock.ts';
import { readWorkerConfig, type WorkerConfig } from './config.ts';
import { createHandlers } from './handlers/index.ts';
import { createMetrics } from './metrics.ts';
import { startLeaseThread } from './start-lease-thread.ts';
import { startStatusServer } from './status-server.ts';
import { startWatchdog } from './watchdog.ts';
import { createWorker } from './worker.ts';

/** Two claims, two settlements, the sweep or a look at the backlog, and one to spare. Renewals have connections of their own. */
const QUEUE_CONNECTIONS = 6;
/** Handlers share these; one that waits for a connection waits like one that waits for anything else. */
const MOST_HANDLER_CONNECTIONS = 20;
const CLOSE_MS = 2_000;
/** Below the patience of the worker's parts, so that the connection is replaced as well. Handlers set their own. */
const QUEUE_STATEMENT_MS = 10_000;

try {
  await main(readWorkerConfig());
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}

async function main(config: WorkerConfig): Promise<void> {
  const logger = createLogger('worker', config.logLevel);
  const metrics = createMetrics();
  // Two pools: a handler that holds every connection must not keep the queue from its own.
  const queuePrisma = connect(config, logger, 'queue', {
    poolSize: QUEUE_CONNECTIONS,
    queryTimeoutMs: QUEUE_STATEMENT_MS,
    fixedPlans: true,
  });
  const handlerPrisma = connect(config, logger, 'handlers', {
    poolSize: Math.min(config.concurrency, MOST_HANDLER_CONNECTIONS),
  });

  const worker = createWorker({
    ...config,
    prisma: queuePrisma,
    renewal: () => startLeaseThread(config.databaseUrl),
    handlers: createHandlers({ prisma: handlerPrisma, config }),
    logger,
    metrics,
    workerId: `${config.machine}-${randomUUID().slice(0, 8)}`,
    listen: listener(config, logger),
  });
  const status = await startStatusServer(config.healthPort, metrics, worker.health);

  const end = endOn(process, {
    logger,
    async stop() {
      await worker.drain({ timeoutMs: config.drainTimeoutMs });
      watchdog.stop();
      await within(systemClock, CLOSE_MS, Promise.all([status.close(), handlerPrisma.$disconnect()]));
      // Last, because everything before may still have had something to write.
      await within(systemClock, CLOSE_MS, queuePrisma.$disconnect());
    },
    hurry: worker.hurry,
  });
  const watchdog = startWatchdog(systemClock, logger, worker.health, (problems) => {
    logger.fatal({ problems }, 'worker stays unhealthy');
    end(1);
  });

  worker.start();
  logger.info({ port: status.port }, 'status server listening');
}

function connect(
  config: WorkerConfig,
  logger: Logger,
  part: string,
  options: Pick<PoolOptions, 'poolSize' | 'queryTimeoutMs' | 'fixedPlans'>,
): PrismaClient {
  return createPrisma(config.databaseUrl, {
    ...options,
    applicationName: `fencepost worker ${part}`,
    onPoolError: (error) => logger.warn({ err: error, part }, 'idle database connection lost'),
  });
}

function listener({ databaseUrl, directUrl }: WorkerConfig, logger: Logger) {
  const url = directUrl ?? databaseUrl;
  if (parseDatabaseUrl(url).behindPooler) {
    logger.warn({}, 'polling alone: no LISTEN through a transaction pooler; DIRECT_URL would bring wake-ups');
    return undefined;
  }
  return (onError: (error: Error) => void) =>
    createPgClient(url, { applicationName: 'fencepost worker wake-ups', onError });
}
