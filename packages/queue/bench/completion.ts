/**
 * What it costs to complete jobs that are kept, and to clean them up afterwards, beside completing them by deleting them:
 * time and WAL of each statement for 500 jobs, one statement at a time, in turn.
 *
 *     pnpm --filter @fencepost/queue bench:completion
 *
 *     --rounds N    a batch each of either way; 60 by default
 *
 * Postgres is a server of its own with its default settings. Medians and quartiles: a checkpoint, or a round of
 * autovacuum, is in a few of the rounds and belongs to none of them.
 */
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@fencepost/testing';
import { z } from 'zod';
import { enqueueMany } from '../src/enqueue.ts';
import { defineJob } from '../src/job.ts';
import { claimJobs, deleteFinished, settleRuns } from '../src/protocol.ts';
import { complete, wantedOf } from '../test/fixtures/jobs.ts';
import { openTable } from './bloat/table.ts';

const BATCH = 500;
/** Jobs for later, so that the table is none that fits on a few pages. */
const BACKLOG = 50_000;
const WARM_UP = 5;

const { values } = parseArgs({
  // pnpm passes on the `--` that some put before the options.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { rounds: { type: 'string', default: '60' } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a whole number from 1');

const contract = defineJob({ type: 'webhook.deliver', payload: z.unknown() });
/** Some two hundred bytes, as payloads often are. */
const payload = { to: 'somebody@example.com', template: 'welcome', locale: 'en', note: 'x'.repeat(120) };

interface Costs {
  readonly ms: number[];
  readonly walBytes: number[];
}
const costs = new Map<string, Costs>();

const server = await startEmbeddedPostgres();
const table = await openTable(server.url);
try {
  await enqueue(BACKLOG, { delay: '1d' });
  await table.execute('VACUUM ANALYZE job_queue');
  await table.execute('CHECKPOINT');
  for (let round = 0; round < WARM_UP + rounds; round++) {
    if (round === WARM_UP) costs.clear();
    await enqueue(2 * BATCH);
    const ways = [completeAndKeep, completeAndDelete];
    for (const complete500 of round % 2 ? ways : ways.toReversed()) await complete500();
  }
  for (const [name, { ms, walBytes }] of costs) console.log(describe(name, ms, walBytes));
} finally {
  await table.close();
  await server.stop();
}

async function completeAndKeep(): Promise<void> {
  const runs = await claimed();
  await cost('complete, kept: UPDATE', () => settleRuns(table.prisma, runs));
  await cost('clean up afterwards', () => deleteFinished(table.prisma, 0, BATCH));
}

async function completeAndDelete(): Promise<void> {
  const runs = await claimed();
  await cost('complete, not kept: DELETE', () => settleRuns(table.prisma, runs, { keepCompleted: false }));
}

async function enqueue(count: number, options: { readonly delay?: '1d' } = {}): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const items = Array.from({ length: Math.min(left, BATCH) }, () => ({ payload, ...options }));
    await enqueueMany(table.prisma, contract, items);
  }
}

async function claimed() {
  const jobs = await claimJobs(table.prisma, {
    workerId: 'bench',
    wanted: [wantedOf(contract, BATCH)],
    capacity: BATCH,
  });
  if (jobs.length !== BATCH) throw new Error(`${jobs.length} jobs claimed of ${BATCH}`);
  return jobs.map((job) => complete(job));
}

/** Nobody else writes meanwhile, so that the WAL between two looks is that of the statement. */
async function cost(name: string, statement: () => PromiseLike<unknown>): Promise<void> {
  const found = costs.get(name) ?? { ms: [], walBytes: [] };
  costs.set(name, found);
  const before = (await table.measure()).walBytes;
  const startedAt = performance.now();
  await statement();
  found.ms.push(performance.now() - startedAt);
  found.walBytes.push((await table.measure()).walBytes - before);
}

function describe(name: string, ms: readonly number[], walBytes: readonly number[]): string {
  const times = [0.5, 0.25, 0.75].map((share) => quantile(ms, share).toFixed(1));
  const wal = [0.5, 0.25, 0.75].map((share) => Math.round(quantile(walBytes, share) / BATCH));
  return (
    `${name.padEnd(28)} ${times[0]} ms (${times[1]}–${times[2]}), ` +
    `WAL ${wal[0]} bytes a job (${wal[1]}–${wal[2]})`
  );
}

function quantile(items: readonly number[], share: number): number {
  const sorted = items.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
