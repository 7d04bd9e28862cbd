/**
 * While a transaction stays open, a worker claims from the heads of the queue and not past the entry of every job that
 * has passed; what comes to be before the heads is found all the same, by a busy worker and by an idle one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { defineJob, handle, type QueueClient } from '@fencepost/queue';
import { claimJobs } from '@fencepost/queue/protocol';
import { waitFor } from '@fencepost/testing';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { DatabaseWatch } from '../src/database-watch.ts';
import { createMetrics } from '../src/metrics.ts';
import { QueueHeads } from '../src/queue-heads.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { noteStatements } from './fixtures/statements.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const PASSED = 100_000;
const job = defineJob({ type: 'test.job', payload: z.object({}) });
const patience = { timeout: 30_000 };

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue');
});
afterAll(() => table.close());

/** Where each claim has looked from; empty: from the beginning. */
function noteLooks() {
  const looks: string[] = [];
  const clientOf = (prisma: PrismaClient): QueueClient => ({
    jobQueue: prisma.jobQueue,
    $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
    $queryRaw: (query, ...values) => {
      if (query.join('').includes('"claimed" AS (')) looks.push(String(values[0]));
      return prisma.$queryRaw(query, ...values);
    },
  });
  return { looks, clientOf };
}

async function insertStraggler({ wakes = true } = {}): Promise<string> {
  const [row] = await table.query<{ id: string }>(
    `WITH told AS MATERIALIZED (SELECT set_config('job_queue.wake', $1, true))
     INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 day' FROM told
     RETURNING id`,
    [wakes ? '' : 'queued'],
  );
  return row!.id;
}

/** The snapshot is held until the test's session is told otherwise; the entries are of jobs that have passed. */
async function passJobs(): Promise<pg.Client> {
  const holder = await table.session();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT FROM job_queue');
  await table.query(
    `INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 hour' + i * interval '1 ms' FROM generate_series(1, $1) AS i`,
    [PASSED],
  );
  await table.query('DELETE FROM job_queue');
  return holder;
}

test('a worker that starts while a snapshot is held surveys before its first claim', async () => {
  const holder = await passJobs();
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    clientOf: statements.clientOf,
    handlers: [handle(job, async () => {})],
  });
  await waitFor(() => statements.count('"claimed" AS (') > 0, patience);
  const [first] = statements.texts.filter((sql) => /"found" AS|"claimed" AS \(/.test(sql));
  expect(first).toContain('"found" AS');
  await worker.drain({ timeoutMs: 0 });
  await holder.query('ROLLBACK');
}, 120_000);

test('claims look from the heads while a snapshot is held, and from the beginning afterwards', async () => {
  const holder = await passJobs();
  await table.query(
    `INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 minute' + i * interval '1 ms' FROM generate_series(1, 20000) AS i`,
  );

  const { looks, clientOf } = noteLooks();
  startWorker({ url: table.url, clientOf, handlers: [handle(job, () => delay(5))] });
  await waitFor(() => looks.length >= 20 && looks.slice(-20).every((from) => from !== ''), patience);
  // Each goes on from where the last one has ended.
  expect(new Set(looks.slice(-20)).size).toBeGreaterThan(10);

  const isCompleted = async (id: string) => (await table.row(id)).state === 'completed';
  const whileBusy = await insertStraggler();
  await waitFor(() => isCompleted(whileBusy), patience);
  expect((await table.states())['pending']).toBeGreaterThan(0);

  await table.query(`DELETE FROM job_queue WHERE state = 'pending'`);
  const looksBefore = looks.length;
  // An idle worker has six looks, and then a poll a minute later; but a survey is due sooner.
  await waitFor(() => looks.length > looksBefore + 10, patience);
  const whileIdle = await insertStraggler({ wakes: false });
  await waitFor(() => isCompleted(whileIdle), patience);
  expect(looks.at(-1)).not.toBe('');

  await holder.query('ROLLBACK');
  await table.query('VACUUM job_queue');
  // A worker that sleeps finds out when it next has something to do.
  await waitFor(
    async () => {
      await table.query(`INSERT INTO job_queue (type) VALUES ('test.job')`);
      return looks.at(-1) === '';
    },
    { ...patience, interval: 100 },
  );
}, 120_000);

test('what a survey finds before the heads is not forgotten for a claim that was on its way meanwhile', async () => {
  const holder = await passJobs();
  const prisma = createPrisma(table.url, { poolSize: 2 });
  onTestFinished(() => prisma.$disconnect());
  const clock = createTestClock();
  const parts = { clock, logger: pino({ level: 'silent' }), metrics: createMetrics() };
  const heads = new QueueHeads({
    ...{ client: prisma, clock, types: [job.type] },
    database: new DatabaseWatch(parts),
  });
  const claim = async () =>
    claimJobs(prisma, {
      ...{ workerId: 'w', wanted: [{ ...job, slots: 5 }], capacity: 5 },
      from: (await heads.start()).from,
    });
  // A look from the beginning that has cost no more than others will.
  heads.claimed(await heads.start(), await claim(), { capacity: 5, tookMs: 1 });
  expect(heads.sleepMs()).toBe(Infinity);
  await heads.nextDueInMs();
  expect((await heads.start()).from).toBeDefined();
  expect(heads.sleepMs()).toBeLessThan(60_000);

  await table.query(
    `INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 minute' FROM generate_series(1, 100)`,
  );
  const start = await heads.start();
  const jobs = await claim();
  const straggler = await insertStraggler();
  clock.jump(60_000);
  expect(await heads.nextDueInMs()).toBeLessThan(-86_000_000);
  heads.claimed(start, jobs, { capacity: 5, tookMs: 1 });
  expect((await claim()).map(({ id }) => id)).toContain(straggler);
  await holder.query('ROLLBACK');
}, 120_000);
