/**
 * Workers and the web app behind PgBouncer in transaction mode, with two connections to the server for all of them: a
 * statement of one is followed on the same session by one of another, and everything is done by polling.
 */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue, enqueueMany } from '@fencepost/queue';
import { startPgBouncer, waitFor, type PgBouncer } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findFaults } from '../fixtures/claim-history.ts';
import { testContracts } from '../fixtures/contracts.ts';
import { createJobTable, type JobTable } from '../fixtures/job-table.ts';
import { spawnWorker, type WorkerProcess } from '../fixtures/spawn-worker.ts';
import { pgBouncerIsMissing } from './pgbouncer-here.ts';
import { emit, spawnMain, spawnWeb, startReceiver, subscribe, type Service } from './services.ts';

const contracts = { lease: '2s', maxCrashes: 100, maxAttempts: 3 } as const;
const { effect, sleeper, failing } = testContracts(contracts);
const POLLING = /^polling alone: no LISTEN through a transaction pooler/;
const SOON = { timeout: 30_000, interval: 50 };

describe.skipIf(pgBouncerIsMissing)('behind a transaction pooler', () => {
  let table: JobTable;
  let pooler: PgBouncer;
  let prisma: PrismaClient;
  let web: Service;
  let workers: WorkerProcess[];

  beforeAll(async () => {
    table = await createJobTable();
    pooler = await startPgBouncer({ url: table.url, poolSize: 2 });
    prisma = createPrisma(pooler.url, { poolSize: 4 });
    const worker = () => spawnWorker({ url: pooler.url, contracts, concurrency: 5, pollIntervalMs: 1_000 });
    const [started, ...others] = await Promise.all([
      spawnWeb({ DATABASE_URL: pooler.url }),
      worker(),
      worker(),
    ]);
    web = started;
    workers = others;
  }, 90_000);
  beforeEach(async () => {
    await table.query('TRUNCATE job_queue, test_history, test_effect');
  });
  afterAll(async () => {
    await prisma?.$disconnect();
    await table?.close();
  });

  const completed = async () => (await table.states())['completed'] ?? 0;
  const isIn = (id: string, state: string) =>
    waitFor(async () => (await table.row(id)).state === state, SOON);
  const enqueueEffects = (count: number, ms: number) =>
    enqueueMany(
      prisma,
      effect,
      Array.from({ length: count }, () => ({ payload: { ms } })),
    );

  test('what the web app enqueues is delivered by polling, and the log says why it polls', async () => {
    const receiver = await startReceiver();
    const worker = await spawnMain({ DATABASE_URL: pooler.url });
    expect(worker.lines.filter((line) => POLLING.test(String(line['msg'])))).toMatchObject([{ level: 40 }]);
    await subscribe(web, receiver.url, 'pooled');
    const keys = Array.from({ length: 8 }, (_, index) => `pooled-${index}`);
    await Promise.all(keys.map((key) => emit(web, 'pooled', key)));
    await waitFor(async () => (await completed()) === keys.length, SOON);
    expect(receiver.received()).toBe(keys.length);
    expect(await table.query('SELECT DISTINCT attempts, claims, errors FROM job_queue')).toEqual([
      { attempts: 1, claims: 1, errors: [] },
    ]);
    const { body } = await worker.ask('GET', '/healthz');
    expect(body).toMatchObject({ healthy: true, listening: false });
    worker.signal('SIGTERM');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(worker.said('statement failed')).toEqual([]);
  });

  test('an address of the database itself brings wake-ups', async () => {
    const receiver = await startReceiver();
    const worker = await spawnMain({
      ...{ DATABASE_URL: pooler.url, DIRECT_URL: table.url },
      // What happens sooner was not the poll's doing.
      POLL_INTERVAL: '60s',
    });
    await worker.waitForLine((line) => line['msg'] === 'listening for wake-ups');
    expect(worker.lines.filter((line) => POLLING.test(String(line['msg'])))).toEqual([]);
    await subscribe(web, receiver.url, 'woken');
    const idleMs = async () => Number((await worker.ask('GET', '/healthz')).body['loopIdleMs']);
    // The last step of an idle worker's sleeps but the poll interval is a second.
    await waitFor(async () => (await idleMs()) > 1_300, SOON);
    const id = await emit(web, 'woken', 'woken');
    await isIn(id, 'completed');
    const { createdAt, claimedAt } = await table.row(id);
    expect(claimedAt!.getTime() - createdAt.getTime()).toBeLessThan(10_000);
  });

  test('claims are renewed, settled in transactions, tried again and reclaimed', async () => {
    // Longer than three leases.
    const long = await enqueue(prisma, effect, { ms: 6_500 });
    const holds = (worker: WorkerProcess) => worker.said('run began').some(({ id }) => id === long.id);
    await waitFor(() => workers.some(holds), SOON);
    const failed = await enqueue(prisma, failing, {});
    await isIn(failed.id, 'dead');
    expect((await table.row(failed.id)).errors).toHaveLength(3);
    expect((await web.ask('POST', `/api/jobs/${failed.id}/retry`)).status).toBe(200);
    await waitFor(async () => (await table.row(failed.id)).errors.length === 6, SOON);

    const mortal = workers.find((worker) => !holds(worker))!;
    const begun = mortal.said('run began').length;
    await enqueueEffects(40, 200);
    await waitFor(() => mortal.said('run began').length > begun, SOON);
    mortal.signal('SIGKILL');
    workers = workers.filter((worker) => worker !== mortal);
    await waitFor(async () => (await completed()) === 41, SOON);
    expect(await table.row(long.id)).toMatchObject({ claims: 1, crashes: 0 });
    expect(await findFaults(table)).toEqual([]);
  });

  test('a pooler that dies, and sessions of its server that are ended, cost no job and double none', async () => {
    const [worker] = workers as [WorkerProcess];
    const { id } = await enqueue(prisma, sleeper, { ms: 60_000 });
    await enqueueEffects(30, 100);
    await waitFor(async () => (await completed()) > 5, SOON);
    await pooler.kill();
    await worker.waitForLine(({ fault }) => fault === 'unreachable' || fault === 'connection_lost');
    const refused = await web.ask('POST', '/api/events', { type: 'nobody', payload: {} });
    expect(refused).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } });
    await pooler.start();
    await waitFor(async () => (await completed()) === 30, SOON);

    await enqueueEffects(30, 100);
    await waitFor(async () => (await completed()) > 35, SOON);
    await table.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'fencepost%'`,
    );
    await waitFor(async () => (await completed()) === 60, SOON);
    expect(await findFaults(table)).toEqual([]);

    // Its renewals may have failed for a whole lease, and it runs again all the same.
    await waitFor(async () => (await table.row(id)).state === 'running', SOON);
    expect((await web.ask('POST', `/api/jobs/${id}/cancel`)).status).toBe(202);
    await isIn(id, 'cancelled');
    expect(worker.said('worker started')).toHaveLength(1);
  });

  test('a drain hands back what does not end', async () => {
    const [worker] = workers as [WorkerProcess];
    const { id } = await enqueue(prisma, sleeper, { ms: 60_000 });
    await isIn(id, 'running');
    worker.signal('SIGTERM');
    await worker.waitForLine(({ msg }) => msg === 'drain begins');
    worker.signal('SIGTERM');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(await table.row(id)).toMatchObject({ state: 'pending', attempts: 0, claims: 1, crashes: 0 });
  });
});
