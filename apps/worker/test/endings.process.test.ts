/** How a worker process ends when nobody asked it to. */
import { createPrisma } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

let table: JobTable;
let prisma: ReturnType<typeof createPrisma>;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url);
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

test('a rejection that nobody handles is fatal: told, drained, exit code 1', async () => {
  const worker = await spawnWorker({ url: table.url, drainTimeoutMs: 1_000 });
  const { sleeper, careless } = testContracts();
  const { id: beside } = await enqueue(prisma, sleeper, { ms: 60_000 });
  await worker.waitForLine((line) => line['msg'] === 'run began');
  await enqueue(prisma, careless, {});
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.said('unhandled rejection')).toMatchObject([
    { level: 60, err: { message: 'nobody waits for this' } },
  ]);
  expect(worker.said('drain ended')).toHaveLength(1);
  expect(await table.row(beside)).toMatchObject({ state: 'pending', attempts: 0, claims: 1 });
  expect((await table.states())['running']).toBeUndefined();
});

test('a worker that stays ill ends with 1, having handed back what it could', async () => {
  // A hundred times faster: half a minute of deafness and two minutes of illness are seconds.
  const contracts = { lease: '1h', timeout: '1s', maxAttempts: 1 } as const;
  const worker = await spawnWorker({ url: table.url, contracts, concurrency: 1, clockSpeed: 100 });
  const { id } = await enqueue(prisma, testContracts(contracts).endless, {});
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.said('worker is unhealthy').length).toBeGreaterThan(0);
  expect(worker.said('worker stays unhealthy')).toMatchObject([
    { level: 60, problems: ['every slot is held by a handler that ignores its abort'] },
  ]);
  expect(await table.row(id)).toMatchObject({ state: 'dead', errors: [{ kind: 'timeout' }] });
});
