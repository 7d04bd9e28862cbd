/** Postgres restarted under load, cleanly and by a crash: the worker recovers by itself, and nothing is lost. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueueMany } from '@fencepost/queue';
import { migrateDeploy, startEmbeddedPostgres, waitFor, type EmbeddedPostgres } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFaults } from './fixtures/claim-history.ts';
import { testContracts } from './fixtures/contracts.ts';
import { openJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

const contracts = { lease: '5s', maxCrashes: 100, maxAttempts: 100 } as const;
const { effect } = testContracts(contracts);
const JOBS = 400;

let server: EmbeddedPostgres;
let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  server = await startEmbeddedPostgres();
  await migrateDeploy(server.url);
  table = await openJobTable(server.url);
  prisma = createPrisma(server.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
  await server.stop();
});

test('the worker goes on after a fast and an immediate restart', async () => {
  const worker = await spawnWorker({ url: server.url, contracts, concurrency: 10 });
  const completed = async () => (await table.states())['completed'] ?? 0;
  const enqueueSome = () =>
    enqueueMany(
      prisma,
      effect,
      Array.from({ length: JOBS }, () => ({ payload: { ms: 20 } })),
    );

  let total = 0;
  for (const mode of ['fast', 'immediate'] as const) {
    await enqueueSome();
    total += JOBS;
    const listened = worker.said('listening for wake-ups').length;
    // In the middle of it.
    await waitFor(async () => (await completed()) > total - JOBS + 20, { timeout: 30_000 });
    expect(await completed()).toBeLessThan(total - 20);
    await server.restart(mode);

    await waitFor(async () => (await completed()) === total, { timeout: 60_000, interval: 100 });
    await waitFor(() => worker.said('listening for wake-ups').length > listened, { timeout: 30_000 });
  }

  // By itself: it is the same process, in health, and hears of what is new.
  const { status, body } = await worker.get('/healthz');
  expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 200, problems: [], listening: true });
  await enqueueSome();
  await waitFor(async () => (await completed()) === total + JOBS, { timeout: 60_000, interval: 100 });
  expect(worker.said('worker started')).toHaveLength(1);
  expect(worker.said('unhandled rejection')).toEqual([]);
  expect(await findFaults(table)).toEqual([]);
});
