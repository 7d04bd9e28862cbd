/** A handler that computes without a pause holds up its worker's main thread, and keeps its claim until its timeout. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { reclaimJobs } from '@fencepost/queue/protocol';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

const FENCED = 'fenced write: this claim no longer owns the row';

let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url);
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue');
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

/** Another worker's sweep, that looks so often that it has a claim the moment its lease has run out. */
async function sweepUntil(condition: () => Promise<boolean>): Promise<void> {
  const sweptAndLooked = async () => {
    await reclaimJobs(prisma, 100);
    return condition();
  };
  await waitFor(sweptAndLooked, { timeout: 30_000 });
}

test('a run that blocks its worker for three leases keeps its claim, and so does the run beside it', async () => {
  const contracts = { lease: '2s' } as const;
  const { computing, sleeper } = testContracts(contracts);
  const worker = await spawnWorker({ url: table.url, contracts, sweepIntervalMs: 600_000 });
  const beside = await enqueue(prisma, sleeper, { ms: 8_000 });
  const jobs = [beside, await enqueue(prisma, computing, { ms: 6_500 })];

  await sweepUntil(async () => (await table.states())['completed'] === 2);
  for (const { id } of jobs) {
    expect(await table.row(id)).toMatchObject({ claims: 1, crashes: 0, errors: [] });
  }
  expect(worker.said('run told to stop')).toEqual([]);
  expect(worker.said(FENCED)).toEqual([]);
});

test('a run that blocks its worker past its timeout loses its claim, and what it comes to is fenced', async () => {
  const contracts = { lease: '2s', timeout: '4s', maxAttempts: 1 } as const;
  const worker = await spawnWorker({ url: table.url, contracts, sweepIntervalMs: 600_000 });
  const { id } = await enqueue(prisma, testContracts(contracts).computing, { ms: 10_000 });

  await sweepUntil(async () => (await table.row(id)).crashes === 1);
  const [lost] = await table.query<{ afterMs: number }>(
    'SELECT (extract(epoch FROM "finishedAt" - "claimedAt") * 1000)::float8 AS "afterMs" FROM job_queue',
  );
  // Kept through its timeout: two leases.
  expect(lost?.afterMs).toBeGreaterThan(4_000);
  const { state, errors } = await table.row(id);
  expect({ state, errors }).toMatchObject({ state: 'dead', errors: [{ kind: 'crashed' }] });

  const fenced = await waitFor(() => worker.said(FENCED).at(0));
  expect(fenced).toMatchObject({ op: 'settle', id, lost: expect.stringContaining('"settle":"complete"') });
  expect(await table.row(id)).toMatchObject({ state: 'dead', claims: 1 });
});
