/** How many claims a worker has under way at once. */
import type { PrismaClient } from '@fencepost/db';
import { defineJob, enqueueMany, handle, type QueueClient } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const payload = z.object({});
const plain = defineJob({ type: 'test.plain', payload });
const jobs = (count: number) => Array.from({ length: count }, () => ({ payload: {} }));

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

function watchClaims() {
  const seen = { underWay: 0, most: 0 };
  return {
    seen,
    clientOf: (prisma: PrismaClient): QueueClient => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (!query.join('').includes('"claimed" AS (')) return prisma.$queryRaw<T>(query, ...values);
        seen.underWay += 1;
        seen.most = Math.max(seen.most, seen.underWay);
        try {
          return await prisma.$queryRaw<T>(query, ...values);
        } finally {
          seen.underWay -= 1;
        }
      },
    }),
  };
}

test('claims that do not come back full are one at a time', async () => {
  const claims = watchClaims();
  const worker = startWorker({
    url: table.url,
    concurrency: 1_000,
    clientOf: claims.clientOf,
    handlers: [handle(plain, async () => {})],
  });
  for (let round = 0; round < 4; round++) await enqueueMany(worker.prisma, plain, jobs(100));
  await waitFor(async () => (await table.states())['completed'] === 400);
  expect(claims.seen.most).toBe(1);
});

test('while claims come back full, two are under way', async () => {
  await table.query(`INSERT INTO job_queue (type) SELECT 'test.plain' FROM generate_series(1, 5000)`);
  const claims = watchClaims();
  startWorker({
    url: table.url,
    concurrency: 1_000,
    clientOf: claims.clientOf,
    handlers: [handle(plain, async () => {})],
  });
  await waitFor(async () => (await table.states())['completed'] === 5_000);
  expect(claims.seen.most).toBe(2);
});
