/** Two worker processes over thousands of jobs: no job runs under two live claims, and none is lost. */
import { createPrisma } from '@fencepost/db';
import { enqueueMany } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { findFaults } from './fixtures/claim-history.ts';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

const BATCH = 500;
const BATCHES = 4;

test('two workers share thousands of jobs: each has one owner at a time and one effect', async () => {
  const table = await createJobTable();
  const prisma = createPrisma(table.url);
  const { effect } = testContracts();
  const enqueueBatch = () =>
    enqueueMany(
      prisma,
      effect,
      Array.from({ length: BATCH }, () => ({ payload: {} })),
    );

  await enqueueBatch();
  const workers = await Promise.all([1, 2].map(() => spawnWorker({ url: table.url, concurrency: 20 })));
  // The rest comes while they work.
  for (let batch = 1; batch < BATCHES; batch++) await enqueueBatch();
  await waitFor(async () => (await table.states())['completed'] === BATCH * BATCHES, {
    timeout: 90_000,
    interval: 200,
  });

  expect(await findFaults(table)).toEqual([]);
  const shares = await table.query<{ jobs: number }>(
    'SELECT count(*)::int AS jobs FROM job_queue GROUP BY "claimedBy"',
  );
  expect(shares).toHaveLength(2);
  for (const worker of workers) expect(await worker.metric('fencepost_fenced_total{op="complete"}')).toBe(0);
  await prisma.$disconnect();
  await table.close();
});
