/** What a worker does for all of them: how much a sweep takes, what is told of it, and when the next one comes. */
import { createPrisma } from '@fencepost/db';
import { defineJob, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock, type Clock } from '../src/clock.ts';
import { DatabaseWatch } from '../src/database-watch.ts';
import { Maintenance } from '../src/maintenance.ts';
import { createMetrics } from '../src/metrics.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const other = defineJob({ type: 'test.other', payload: z.object({}) });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

test('a fleet that died at once is taken up by one sweep, and each of its jobs is told', async () => {
  await table.query(
    `INSERT INTO job_queue (type, state, "claimToken", "lockUntil", "retryDelayMs", attempts, claims)
     SELECT 'test.orphan', 'running', gen_random_uuid(), now() - interval '1 minute', 1, 1, 1
     FROM generate_series(1, 250)`,
  );
  const worker = startWorker({
    url: table.url,
    sweepIntervalMs: 600_000,
    handlers: [handle(other, async () => {})],
  });
  await waitFor(async () => (await table.states())['pending'] === 250);
  const labels = { type: 'test.orphan', state: 'pending' };
  await waitFor(async () => (await worker.metric('fencepost_reclaimed_total', labels)) === 250);
  const told = worker.said('job reclaimed: the lease of its worker ran out');
  expect(told).toHaveLength(250);
  expect(told[0]).toMatchObject({ level: 40, type: 'test.orphan', state: 'pending', crashes: 1 });
});

test('finished jobs go when they are old enough, and not before', async () => {
  await table.query(
    `INSERT INTO job_queue (type, state, "finishedAt")
     VALUES
       ('test.old', 'completed', now() - interval '25 hours'),
       ('test.young', 'completed', now() - interval '23 hours')`,
  );
  const worker = startWorker({
    url: table.url,
    retentionMs: 86_400_000,
    handlers: [handle(other, async () => {})],
  });
  await waitFor(async () => (await worker.metric('fencepost_deleted_total')) === 1);
  expect(worker.said('finished jobs deleted')).toMatchObject([{ deleted: 1, retentionMs: 86_400_000 }]);
  expect(await table.query('SELECT type FROM job_queue')).toEqual([{ type: 'test.young' }]);
});

test('a fleet does not sweep in step: pauses are a quarter longer or shorter', async () => {
  const INTERVAL_MS = 1_000;
  const pauses: number[] = [];
  const hasty: Clock = {
    now: systemClock.now,
    after(ms, task) {
      pauses.push(ms);
      return systemClock.after(5, task);
    },
  };
  const prisma = createPrisma(table.url);
  const logger = pino({ level: 'silent' });
  const metrics = createMetrics();
  const maintenance = new Maintenance({
    client: prisma,
    clock: hasty,
    logger,
    database: new DatabaseWatch({ clock: systemClock, logger, metrics }),
    metrics,
    sweepIntervalMs: INTERVAL_MS,
    retentionMs: 86_400_000,
  });
  maintenance.start();
  // The others are a minute and a quarter of one.
  const sweeps = () => pauses.filter((ms) => ms < 2 * INTERVAL_MS);
  await waitFor(() => sweeps().length >= 20);
  await maintenance.stop();
  await prisma.$disconnect();
  expect(Math.min(...sweeps())).toBeGreaterThanOrEqual(0.75 * INTERVAL_MS);
  expect(Math.max(...sweeps())).toBeLessThanOrEqual(1.25 * INTERVAL_MS);
  expect(new Set(sweeps()).size).toBeGreaterThan(10);
});
