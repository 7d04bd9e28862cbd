/**
 * What a claim costs while jobs pass and a transaction stays open that holds back vacuum, beside what it costs without:
 *
 *     pnpm --filter @fencepost/worker bench:held-snapshot --jobs 1000000
 *
 *     --jobs N    jobs that pass with the snapshot held, and a tenth of them without; 100,000 by default
 *     --claim N   jobs a claim; 500 by default
 *
 * One loop enqueues, claims as a worker does and completes. The surveys that a worker makes beside its claims are counted
 * as part of what the claims cost.
 */
import { parseArgs } from 'node:util';
import { createPgClient, createPrisma } from '@fencepost/db';
import { defineJob, enqueueMany, type QueueClient } from '@fencepost/queue';
import { claimJobs, settleRuns } from '@fencepost/queue/protocol';
import { createLogger } from '@fencepost/service';
import { migrateDeploy, startEmbeddedPostgres } from '@fencepost/testing';
import { z } from 'zod';
import { systemClock } from '../src/clock.ts';
import { DatabaseWatch } from '../src/database-watch.ts';
import { createMetrics } from '../src/metrics.ts';
import { QueueHeads } from '../src/queue-heads.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    jobs: { type: 'string', default: '100000' },
    claim: { type: 'string', default: '500' },
  },
});
const jobs = Number(values.jobs);
const capacity = Number(values.claim);
const BATCH = 500;
const LINES = 10;

const contract = defineJob({ type: 'bench.held', payload: z.object({}) });
const batch = Array.from({ length: BATCH }, () => ({ payload: {} }));

interface Cost {
  claims: number;
  claimMs: number;
  longestMs: number;
  surveys: number;
  surveyMs: number;
}

const without = await measure(false, jobs / 10);
const held = await measure(true, jobs);
const average = ({ claims, claimMs, surveyMs }: Cost) => (claimMs + surveyMs) / claims;
const ratio = (average(held.at(-1)!) / average(together(without))).toFixed(2);
console.log(`after ${jobs} jobs a claim costs ${ratio} times what it does without the snapshot`);

async function measure(isHeld: boolean, count: number): Promise<Cost[]> {
  const server = await startEmbeddedPostgres();
  try {
    await migrateDeploy(server.url);
    return await pass(server.url, isHeld, count);
  } finally {
    await server.stop();
  }
}

async function pass(url: string, isHeld: boolean, count: number): Promise<Cost[]> {
  console.log(`\n${isHeld ? 'with' : 'without'} a snapshot held`);
  console.log('   jobs  claim ms  longest  surveys  each ms  both, a claim');
  const holder = createPgClient(url, { applicationName: 'holder', onError: () => {} });
  await holder.connect();
  if (isHeld) {
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT FROM job_queue');
  }
  const prisma = createPrisma(url, { poolSize: 4 });
  const surveying: Cost = newCost();
  const client: QueueClient = {
    jobQueue: prisma.jobQueue,
    $executeRaw: (query, ...parameters) => prisma.$executeRaw(query, ...parameters),
    async $queryRaw<T>(query: TemplateStringsArray, ...parameters: unknown[]) {
      const startedAt = performance.now();
      const rows = await prisma.$queryRaw<T>(query, ...parameters);
      surveying.surveys++;
      surveying.surveyMs += performance.now() - startedAt;
      return rows;
    },
  };
  const parts = { clock: systemClock, logger: createLogger('bench', 'warn'), metrics: createMetrics() };
  const heads = new QueueHeads({
    client,
    clock: systemClock,
    database: new DatabaseWatch(parts),
    types: [contract.type],
  });

  const lines: Cost[] = [];
  let cost = newCost();
  // A backlog, as a busy queue has one.
  let enqueued = 0;
  const enqueue = async () => {
    await enqueueMany(prisma, contract, batch);
    enqueued += BATCH;
  };
  while (enqueued < 20 * BATCH) await enqueue();
  let passed = 0;
  while (passed < count) {
    if (enqueued - passed < 20 * BATCH) await enqueue();
    const startedAt = performance.now();
    const start = await heads.start();
    const wanted = [{ ...contract, slots: capacity }];
    const claimed = await claimJobs(prisma, { workerId: 'bench', wanted, capacity, from: start.from });
    const tookMs = performance.now() - startedAt;
    heads.claimed(start, claimed, { capacity, tookMs });
    cost.claims++;
    cost.claimMs += tookMs;
    cost.longestMs = Math.max(cost.longestMs, tookMs);
    await settleRuns(
      prisma,
      claimed.map((job) => ({ ...job, settlement: { settle: 'complete', result: null }, completing: false })),
    );
    passed += claimed.length;
    if (passed >= ((lines.length + 1) * count) / LINES) {
      cost = { ...cost, surveys: surveying.surveys, surveyMs: surveying.surveyMs };
      Object.assign(surveying, newCost());
      lines.push(cost);
      print(passed, cost);
      cost = newCost();
    }
  }
  await prisma.$disconnect();
  await holder.end();
  return lines;
}

function newCost(): Cost {
  return { claims: 0, claimMs: 0, longestMs: 0, surveys: 0, surveyMs: 0 };
}

function together(costs: readonly Cost[]): Cost {
  return costs.reduce((sum, cost) => ({
    claims: sum.claims + cost.claims,
    claimMs: sum.claimMs + cost.claimMs,
    longestMs: Math.max(sum.longestMs, cost.longestMs),
    surveys: sum.surveys + cost.surveys,
    surveyMs: sum.surveyMs + cost.surveyMs,
  }));
}

function print(passed: number, { claims, claimMs, longestMs, surveys, surveyMs }: Cost): void {
  const columns = [
    String(passed).padStart(8),
    (claimMs / claims).toFixed(1).padStart(9),
    longestMs.toFixed(0).padStart(8),
    String(surveys).padStart(8),
    (surveyMs / Math.max(1, surveys)).toFixed(0).padStart(8),
    ((claimMs + surveyMs) / claims).toFixed(1).padStart(13),
  ];
  console.log(columns.join(' '));
}
