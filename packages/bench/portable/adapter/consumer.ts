/** The worker under test, put together as production puts it together; only what its handler does is the bench's. */
import { randomUUID } from 'node:crypto';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPgClient, createPrisma, type PrismaClient } from '@fencepost/db';
import { handle, type JobContext, type JobHandler } from '@fencepost/queue';
import { createMetrics, createWorker, startLeaseThread, type Metrics, type Worker } from '@fencepost/worker';
import type { Logger } from 'pino';
import { wallClockMs } from './clock.ts';
import type { AdapterConfig } from './config.ts';
import type { BenchContract, BenchContracts, BenchPayload } from './contracts.ts';
import type { Failures } from './failures.ts';
import type { HerdTally } from './herd-tally.ts';
import type { Tally } from './tally.ts';

/** As in the worker's own main.ts, and the settings below are the defaults of its configuration. */
const QUEUE_CONNECTIONS = 6;
const QUEUE_STATEMENT_MS = 10_000;
const POLL_INTERVAL_MS = 5_000;
const SWEEP_INTERVAL_MS = 10_000;
const RETENTION_MS = 7 * 24 * 3_600_000;

export interface Consumer {
  readonly worker: Worker;
  readonly metrics: Metrics;
  readonly prisma: PrismaClient;
}

export interface ConsumerParts {
  readonly config: AdapterConfig;
  readonly contracts: BenchContracts;
  readonly logger: Logger;
  readonly tally: Tally;
  readonly failures: Failures;
  readonly herd: HerdTally;
}

export function createConsumer(parts: ConsumerParts): Consumer {
  const { config, contracts, logger } = parts;
  const { databaseUrl } = config;
  const metrics = createMetrics();
  const prisma = createPrisma(databaseUrl, {
    applicationName: 'fencepost worker queue',
    poolSize: QUEUE_CONNECTIONS,
    queryTimeoutMs: QUEUE_STATEMENT_MS,
    fixedPlans: true,
    onPoolError: (error) => logger.warn({ err: error }, 'idle database connection lost'),
  });
  const worker = createWorker({
    prisma,
    renewal: () => startLeaseThread(databaseUrl),
    handlers: [...contracts.queues, contracts.herd].map((contract) => handlerOf(contract, parts)),
    // Each of the logical queues gets a slot at least.
    concurrency: Math.max(config.workers, config.queues),
    logger,
    metrics,
    // With the pid, for whoever started the process and looks for its claims.
    workerId: `bench-${config.instance}-${pid}-${randomUUID().slice(0, 8)}`,
    listen: (onError) =>
      createPgClient(databaseUrl, { applicationName: 'fencepost worker wake-ups', onError }),
    pollIntervalMs: POLL_INTERVAL_MS,
    sweepIntervalMs: SWEEP_INTERVAL_MS,
    retentionMs: RETENTION_MS,
  });
  return { worker, metrics, prisma };
}

/** The work is a sleep, as for every system of the harness. Jobs with a mark or a time of their own are timed apart. */
function handlerOf(contract: BenchContract, { config, tally, failures, herd }: ConsumerParts): JobHandler {
  const run = async (payload: BenchPayload, { attempt, job, signal }: JobContext) => {
    const isPlain = payload.fail === undefined && payload.run_at_ms === undefined;
    tally.started += 1;
    if (payload.run_at_ms !== undefined) herd.started(wallClockMs() - payload.run_at_ms);
    if (isPlain) tally.claim.record(wallClockMs() - payload.enqueued_at_ms);
    failures.strike(payload, attempt, job.maxAttempts);
    if (config.workMs > 0) await sleep(config.workMs, undefined, { signal });
    if (isPlain) tally.endToEnd.record(wallClockMs() - payload.enqueued_at_ms);
    failures.completed(payload);
  };
  return handle(contract, run);
}
