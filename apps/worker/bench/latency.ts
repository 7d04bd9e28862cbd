/**
 * How long from the commit of an enqueue to the start of its handler, in another process, on an idle queue:
 *
 *     pnpm --filter @fencepost/worker bench:latency [jobs]
 *
 * Both processes read the machine's one monotonic clock, so that no difference of clocks is measured.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPrisma } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { migrateDeploy, startEmbeddedPostgres } from '@fencepost/testing';
import { tick } from './contract.ts';

const jobs = Number(process.argv[2] ?? 1_000);
const server = await startEmbeddedPostgres();
await migrateDeploy(server.url);
const prisma = createPrisma(server.url);
const worker = fork(new URL('./latency-worker.ts', import.meta.url), {
  env: { ...process.env, DATABASE_URL: server.url },
});
await once(worker, 'message');

const latencies: number[] = [];
for (let n = 0; n < jobs; n++) {
  const started = once(worker, 'message');
  await enqueue(prisma, tick, { n });
  const committedAt = process.hrtime.bigint();
  const [startedAt] = (await started) as [string];
  latencies.push(Number(BigInt(startedAt) - committedAt) / 1e6);
  // Until the worker has settled, and sleeps again; of different lengths, so that no rhythm is measured.
  await sleep(20 + Math.random() * 60);
}

latencies.sort((a, b) => a - b);
const at = (share: number) => latencies[Math.min(jobs - 1, Math.floor(jobs * share))]!.toFixed(2);
console.log(
  `commit to start, ${jobs} jobs, ms: p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}  max ${at(1)}`,
);

worker.kill('SIGTERM');
await once(worker, 'exit');
await prisma.$disconnect();
await server.stop();
