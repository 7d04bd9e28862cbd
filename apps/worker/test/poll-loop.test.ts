/** The loop takes what it has slots for, of every type, and nothing keeps it from coming round. */
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { defineJob, DuplicateHandlerError, enqueue, enqueueMany, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const payload = z.object({});
const busy = defineJob({ type: 'test.busy', payload });
const rare = defineJob({ type: 'test.rare', payload });
const jobs = (count: number) => Array.from({ length: count }, () => ({ payload: {} }));

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

async function insertExpired(): Promise<string> {
  const id = randomUUID();
  await table.query(
    `INSERT INTO job_queue (id, type, state, "claimToken", "lockUntil", "retryDelayMs", attempts, claims)
     VALUES ($1, 'test.rare', 'running', gen_random_uuid(), now() - interval '1 minute', 1, 1, 1)`,
    [id],
  );
  return id;
}

test('a freed slot is filled at once', async () => {
  // Long enough that the slot is still taken when the loop comes round.
  const handlers = [handle(busy, () => delay(50))];
  const worker = startWorker({ url: table.url, concurrency: 1, handlers });
  await enqueueMany(worker.prisma, busy, jobs(10));
  // One after the other, with a poll that is a minute away.
  await waitFor(async () => (await table.states())['completed'] === 10);
});

test('types take turns: a busy one does not keep others waiting', async () => {
  const started: string[] = [];
  const gate = createGate();
  const rares = ['test.rare', 'test.rarer', 'test.rarest'].map((type) => defineJob({ type, payload }));
  const handlers = [busy, ...rares].map((contract) =>
    handle(contract, (_payload, ctx) => {
      started.push(ctx.job.type);
      return gate.opened;
    }),
  );
  await table.query(`INSERT INTO job_queue (type) SELECT 'test.busy' FROM generate_series(1, 50)`);
  await table.query(`INSERT INTO job_queue (type) VALUES ('test.rare'), ('test.rarer'), ('test.rarest')`);
  startWorker({ url: table.url, concurrency: 4, handlers });
  await waitFor(() => started.length === 4);
  expect(started.toSorted()).toEqual(['test.busy', 'test.rare', 'test.rarer', 'test.rarest']);
  gate.open();
  await waitFor(async () => (await table.states())['completed'] === 53);
});

test('runs that do not end hold their own slots and no others', async () => {
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    concurrency: 4,
    handlers: [handle(rare, () => gate.opened), handle(busy, async () => {})],
  });
  await enqueueMany(worker.prisma, rare, jobs(3));
  await waitFor(() => worker.health().running === 3);
  await enqueueMany(worker.prisma, busy, jobs(20));
  await waitFor(async () => (await table.states())['completed'] === 20);
  expect(await table.states()).toEqual({ completed: 20, running: 3 });
  gate.open();
});

test('a saturated worker sweeps all the same', async () => {
  const gate = createGate();
  const worker = startWorker({ url: table.url, concurrency: 1, handlers: [handle(busy, () => gate.opened)] });
  await enqueue(worker.prisma, busy, {});
  await waitFor(() => worker.health().running === 1);
  const id = await insertExpired();
  await waitFor(async () => (await table.row(id)).state === 'pending');
  expect(await table.row(id)).toMatchObject({ crashes: 1, errors: [{ kind: 'crashed' }] });
  expect(worker.health()).toMatchObject({ running: 1, slots: 1 });
  gate.open();
});

test('a sweep that fails stops no claim, and shows', async () => {
  await table.query(`
    CREATE FUNCTION test_no_sweep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'no sweep today';
    END $$;
    CREATE TRIGGER test_no_sweep BEFORE UPDATE ON job_queue FOR EACH ROW
    WHEN (NEW.crashes > OLD.crashes)
    EXECUTE FUNCTION test_no_sweep();`);
  try {
    const id = await insertExpired();
    const worker = startWorker({ url: table.url, handlers: [handle(busy, async () => {})] });
    const failures = () => worker.metric('fencepost_database_errors_total', { statement: 'reclaim' });
    await waitFor(async () => (await failures()) >= 3);
    await enqueueMany(worker.prisma, busy, jobs(20));
    await waitFor(async () => (await table.states())['completed'] === 20);

    const { healthy, sinceSweepMs } = worker.health();
    expect(healthy).toBe(true);
    await waitFor(() => worker.health().sinceSweepMs > sinceSweepMs + 500);
    expect(worker.said('statement failed')[0]).toMatchObject({ level: 40, statement: 'reclaim' });
    expect((await table.row(id)).state).toBe('running');

    await table.query('DROP TRIGGER test_no_sweep ON job_queue');
    await waitFor(async () => (await table.row(id)).state === 'pending');
    await waitFor(() => worker.health().sinceSweepMs < 500);
  } finally {
    await table.query('DROP TRIGGER IF EXISTS test_no_sweep ON job_queue');
  }
});

test('a type that nobody here handles stays as it is, and is named', async () => {
  await table.query(`INSERT INTO job_queue (type) VALUES ('test.unknown'), ('test.busy')`);
  await table.query(`INSERT INTO job_queue (type, "runAt") VALUES ('test.later', now() + interval '1 hour')`);
  const worker = startWorker({ url: table.url, handlers: [handle(busy, async () => {})] });
  await waitFor(async () => (await table.states())['completed'] === 1);
  await waitFor(() => worker.health().unhandledTypes.length > 0);
  expect(worker.health()).toMatchObject({ healthy: true, unhandledTypes: ['test.unknown'] });
  expect(await worker.metric('fencepost_backlog', { type: 'test.unknown', when: 'due' })).toBe(1);
  expect(await worker.metric('fencepost_backlog', { type: 'test.later', when: 'scheduled' })).toBe(1);
  expect(
    await table.query(
      `SELECT FROM job_queue WHERE type = 'test.unknown' AND state = 'pending' AND claims = 0`,
    ),
  ).toHaveLength(1);
});

test('a database that takes no settlements gets no more than two claims for a slot and for a job ahead of it', async () => {
  const gate = createGate();
  let runs = 0;
  const worker = startWorker({
    url: table.url,
    concurrency: 5,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes('"completed" AS (')) await gate.opened;
        return prisma.$queryRaw<T>(query, ...values);
      },
    }),
    handlers: [
      handle(busy, async () => {
        runs++;
      }),
    ],
  });
  await enqueueMany(worker.prisma, busy, jobs(1_000));
  await waitFor(() => runs >= 10);
  // The loop has come round since, and has found no room.
  await waitFor(() => worker.health().loopIdleMs > 500);
  const before = runs;
  expect(before).toBeLessThanOrEqual(2 * (5 + 250));
  await waitFor(() => worker.health().loopIdleMs > 1_000);
  expect(runs).toBe(before);
  expect(await table.states()).toEqual({ running: before, pending: 1_000 - before });
  gate.open();
  await waitFor(async () => (await table.states())['completed'] === 1_000);
  expect(runs).toBe(1_000);
});

test('a database that is away is waited for', async () => {
  const proxy = await startProxy(table.url);
  const worker = startWorker({ url: proxy.url, handlers: [handle(busy, async () => {})] });
  await waitFor(() => worker.health().listening);
  proxy.cut();
  await waitFor(() => worker.health().databaseFailingMs > 0);
  await table.query(`INSERT INTO job_queue (type) VALUES ('test.busy')`);
  proxy.mend();
  await waitFor(async () => (await table.states())['completed'] === 1, { timeout: 20_000 });
  await waitFor(() => worker.said('database answers again').length > 0);
  expect(worker.health()).toMatchObject({ healthy: true, databaseFailingMs: 0 });
});

test('what a claim brings after it was given up is handed back', async () => {
  await table.query(`INSERT INTO job_queue (type) SELECT 'test.busy' FROM generate_series(1, 3)`);
  const late = createGate();
  let claims = 0;
  let runs = 0;
  const worker = startWorker({
    url: table.url,
    // Fifteen seconds of patience are a second and a half.
    clock: createTestClock(10),
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        const rows = await prisma.$queryRaw<T>(query, ...values);
        if (query.join('').includes('"claimed" AS (') && ++claims === 1) await late.opened;
        return rows;
      },
    }),
    handlers: [
      handle(busy, async () => {
        runs++;
      }),
    ],
  });
  await waitFor(() => worker.said('statement failed').some(({ statement }) => statement === 'claim'));
  expect(runs).toBe(0);
  late.open();
  await waitFor(async () => (await table.states())['completed'] === 3);
  expect(worker.said('job handed back')).toHaveLength(3);
  expect(await table.query('SELECT DISTINCT attempts, claims, crashes, errors FROM job_queue')).toEqual([
    { attempts: 1, claims: 2, crashes: 0, errors: [] },
  ]);
});

test('two handlers for one type are refused', () => {
  const twice = [handle(busy, async () => {}), handle(busy, async () => {})];
  expect(() => startWorker({ url: table.url, handlers: twice })).toThrow(DuplicateHandlerError);
});
