/** A worker as main.ts makes it, with a handler that says when it was started. */
import { createPgClient, createPrisma } from '@fencepost/db';
import { handle } from '@fencepost/queue';
import { createLogger, endOn } from '@fencepost/service';
import { createMetrics } from '../src/metrics.ts';
import { startLeaseThread } from '../src/start-lease-thread.ts';
import { createWorker } from '../src/worker.ts';
import { tick } from './contract.ts';

const url = process.env['DATABASE_URL']!;
const logger = createLogger('bench', 'warn');
const prisma = createPrisma(url, { fixedPlans: true });
const worker = createWorker({
  prisma,
  renewal: () => startLeaseThread(url),
  handlers: [handle(tick, async () => void process.send!(String(process.hrtime.bigint())))],
  concurrency: 10,
  logger,
  metrics: createMetrics(),
  workerId: 'bench',
  listen: (onError) => createPgClient(url, { applicationName: 'bench', onError }),
  pollIntervalMs: 60_000,
  sweepIntervalMs: 10_000,
  retentionMs: 86_400_000,
});
endOn(process, {
  logger,
  stop: async () => {
    await worker.drain({ timeoutMs: 1_000 });
    await prisma.$disconnect();
  },
  hurry: worker.hurry,
});
worker.start();
while (!worker.health().listening) await new Promise((resolve) => setTimeout(resolve, 10));
process.send!('ready');
