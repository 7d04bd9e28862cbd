/**
 * From where claims look while each brings as many jobs as it can: the next one goes on where the last one ended, and so
 * past nothing that has been claimed since the last vacuum. What comes to be before that is seen within a second.
 */
import { createPrisma } from '@fencepost/db';
import { defineJob } from '@fencepost/queue';
import { claimJobs } from '@fencepost/queue/protocol';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { DatabaseWatch } from '../src/database-watch.ts';
import { createMetrics } from '../src/metrics.ts';
import { QueueHeads } from '../src/queue-heads.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const JOBS = 40;
const CAPACITY = 10;
const job = defineJob({ type: 'test.job', payload: z.object({}) });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue');
  await table.query(
    `INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 hour' + i * interval '1 ms' FROM generate_series(1, $1) AS i`,
    [JOBS],
  );
});
afterAll(() => table.close());

/** A worker's claims, without the worker: each says whether it looked from the beginning, and which jobs it brought. */
function startClaiming() {
  const prisma = createPrisma(table.url, { poolSize: 2 });
  onTestFinished(() => prisma.$disconnect());
  const clock = createTestClock();
  const parts = { clock, logger: pino({ level: 'silent' }), metrics: createMetrics() };
  const database = new DatabaseWatch(parts);
  const heads = new QueueHeads({ client: prisma, clock, types: [job.type], database });
  const claim = async (capacity = CAPACITY, beforeAnswer = async () => {}) => {
    const start = await heads.start();
    const wanted = [{ ...job, slots: capacity }];
    const jobs = await claimJobs(prisma, { workerId: 'w', wanted, capacity, from: start.from });
    await beforeAnswer();
    heads.claimed(start, jobs, { capacity, tookMs: 1 });
    return { looksBack: start.from === undefined, ids: jobs.map(({ id }) => id) };
  };
  return { clock, claim, heads };
}

async function insertStragglers(count: number): Promise<string[]> {
  const rows = await table.query<{ id: string }>(
    `INSERT INTO job_queue (type, "runAt")
     SELECT 'test.job', now() - interval '1 day' + i * interval '1 ms' FROM generate_series(1, $1) AS i
     RETURNING id`,
    [count],
  );
  return rows.map(({ id }) => id);
}

test('a full claim is followed by one that goes on where it ended', async () => {
  const { claim } = startClaiming();
  const claims = [await claim(), await claim(), await claim()];
  expect(claims.map(({ looksBack }) => looksBack)).toEqual([true, false, false]);
  expect(new Set(claims.flatMap(({ ids }) => ids)).size).toBe(3 * CAPACITY);
});

test('a second later the next one looks from the beginning, and they go on from what has come to be there', async () => {
  const { clock, claim } = startClaiming();
  await claim();
  const stragglers = await insertStragglers(2 * CAPACITY);
  clock.jump(500);
  expect(stragglers).not.toContain((await claim()).ids[0]);
  clock.jump(500);
  expect(await claim()).toEqual({ looksBack: true, ids: stragglers.slice(0, CAPACITY) });
  expect(await claim()).toEqual({ looksBack: false, ids: stragglers.slice(CAPACITY) });
});

test('a claim that was not full is followed by one from the beginning, which sees what has come to be there', async () => {
  const { claim } = startClaiming();
  await claim();
  const stragglers = await insertStragglers(1);
  const last = await claim(JOBS);
  expect(last).toMatchObject({ looksBack: false });
  expect(last.ids).toHaveLength(JOBS - CAPACITY);
  expect(await claim()).toEqual({ looksBack: true, ids: stragglers });
});

test('what a survey has found meanwhile is not forgotten for the answer of a claim from the beginning', async () => {
  const { claim, heads } = startClaiming();
  let stragglers: string[] = [];
  await claim(CAPACITY, async () => {
    stragglers = await insertStragglers(1);
    await heads.nextDueInMs();
  });
  const next = await claim();
  expect(next.looksBack).toBe(false);
  expect(next.ids[0]).toBe(stragglers[0]);
});

test('after a look from the beginning that took too long, a survey tells first what there is to pass', async () => {
  const { heads } = startClaiming();
  const first = await heads.start();
  expect(first.from).toBeUndefined();
  heads.failed(first, 10);
  expect(await heads.start()).toMatchObject({ surveys: 1 });
  heads.failed(first, 10_000);
  expect(await heads.start()).toMatchObject({ surveys: 2 });
  expect(await heads.start()).toMatchObject({ surveys: 2 });
});
