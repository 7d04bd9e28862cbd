/**
 * Fencepost as it runs in production: the client of `createPrisma`, the worker put together as apps/worker/src/main.ts
 * does it, with everything on (fences, leases and the thread that renews them, retry delays, metrics, sweep, cleanup,
 * wake-ups; finished rows are kept, unless they are not to be) and the log at `warn`. Payloads are validated at the enqueue and by the worker,
 * which no other system here does.
 */
import { randomUUID } from 'node:crypto';
import { createPgClient, createPrisma } from '@fencepost/db';
import { defineJob, enqueue, enqueueMany, handle } from '@fencepost/queue';
import { createLogger } from '@fencepost/service';
import { createMetrics, createWorker, startLeaseThread } from '@fencepost/worker';
import { z } from 'zod';
import {
  PRODUCER_CONNECTIONS,
  type Producer,
  type System,
  type SystemWorker,
  type WorkerSettings,
} from './system.ts';

const contract = defineJob({
  type: 'bench.job',
  payload: z.object({ n: z.int(), probe: z.int().exactOptional(), filler: z.string().exactOptional() }),
});

/** The limit of CONCURRENCY. A claim is as large as there are free slots. */
const BEST_CONCURRENCY = 1_000;
/** As apps/worker/src/main.ts has them. */
const QUEUE_CONNECTIONS = 6;
const QUEUE_STATEMENT_MS = 10_000;

export const fencepost: System = {
  async install(url) {
    const { migrateDeploy } = await import('@fencepost/testing');
    await migrateDeploy(url);
  },

  async withoutWakeUps(url) {
    const client = createPgClient(url, { applicationName: 'bench', onError: () => {} });
    await client.connect();
    await client.query('ALTER TABLE job_queue DISABLE TRIGGER job_queue_inserted');
    await client.end();
  },

  async openProducer(url): Promise<Producer> {
    const prisma = createPrisma(url, { poolSize: PRODUCER_CONNECTIONS });
    return {
      async enqueue(payload) {
        await enqueue(prisma, contract, payload);
      },
      async enqueueMany(payloads) {
        await enqueueMany(
          prisma,
          contract,
          payloads.map((payload) => ({ payload })),
        );
      },
      async enqueueInTransaction(payload) {
        await prisma.$transaction(async (tx) => {
          await tx.event.create({ data: { id: randomUUID(), type: 'bench', payload: {} } });
          await enqueue(tx, contract, payload);
        });
      },
      async isDrained() {
        const [row] = await prisma.$queryRaw<{ drained: boolean }[]>`
          SELECT
            NOT EXISTS (SELECT FROM job_queue WHERE state = 'pending')
            AND NOT EXISTS (SELECT FROM job_queue WHERE state = 'running') AS drained`;
        return row?.drained ?? false;
      },
    };
  },

  openWorker: (url, settings) => openWorker(url, settings, { keepCompleted: true }),
};

/** Completed jobs are deleted by their completion, as by the other systems that keep none. */
export const fencepostKeepNothing: System = {
  ...fencepost,
  openWorker: (url, settings) => openWorker(url, settings, { keepCompleted: false }),
};

async function openWorker(
  url: string,
  { handler, concurrency = BEST_CONCURRENCY }: WorkerSettings,
  { keepCompleted }: { readonly keepCompleted: boolean },
): Promise<SystemWorker> {
  const prisma = createPrisma(url, {
    poolSize: QUEUE_CONNECTIONS,
    queryTimeoutMs: QUEUE_STATEMENT_MS,
    fixedPlans: true,
  });
  const worker = createWorker({
    prisma,
    renewal: () => startLeaseThread(url),
    handlers: [handle(contract, async (payload) => handler(payload))],
    concurrency,
    logger: createLogger('bench', 'warn'),
    metrics: createMetrics(),
    workerId: `bench-${randomUUID().slice(0, 8)}`,
    listen: (onError) => createPgClient(url, { applicationName: 'bench wake-ups', onError }),
    pollIntervalMs: 5_000,
    sweepIntervalMs: 10_000,
    retentionMs: 7 * 86_400_000,
    keepCompleted,
  });
  return {
    async go() {
      worker.start();
    },
  };
}
