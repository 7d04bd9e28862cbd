/** Claims are kept while their runs last, in few statements; what is lost is told once, and what is not is not. */
import { setTimeout as delay } from 'node:timers/promises';
import { cancel, defineJob, enqueue, enqueueMany, handle, type JobContext } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { noteStatements } from './fixtures/statements.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const payload = z.object({});
const short = defineJob({ type: 'test.short', payload, lease: '2s' });
const shortest = defineJob({ type: 'test.shortest', payload, lease: '1s' });
/** A lease that is renewed by itself in twenty minutes, and so in no test. */
const long = defineJob({ type: 'test.long', payload, lease: '1h' });
const RENEWAL = '"renewed" AS (';

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const stateOf = async (id: string) => (await table.row(id)).state;
const askWorkersToRenew = () => table.query(`SELECT pg_notify('job_queue', 'cancel')`);

test('fifty runs of three leases each end on their first claim, renewed together', async () => {
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    concurrency: 50,
    clientOf: statements.clientOf,
    handlers: [handle(short, (_payload, ctx) => delay(6_000, undefined, { signal: ctx.signal }))],
  });
  await enqueueMany(
    worker.prisma,
    short,
    Array.from({ length: 50 }, () => ({ payload: {} })),
  );
  await waitFor(async () => (await table.states())['completed'] === 50, { timeout: 20_000 });
  expect(await table.query('SELECT DISTINCT attempts, claims, crashes FROM job_queue')).toEqual([
    { attempts: 1, claims: 1, crashes: 0 },
  ]);
  expect(statements.count(RENEWAL)).toBeGreaterThanOrEqual(3);
  expect(statements.count(RENEWAL)).toBeLessThan(50);
});

test('a row that somebody has locked is not lost, and keeps no other from being renewed', async () => {
  const gate = createGate();
  const signals = new Map<string, AbortSignal>();
  const worker = startWorker({
    url: table.url,
    leaseThread: true,
    // Whoever sweeps may take the row in the moment in which it is free and not yet renewed.
    sweepIntervalMs: 600_000,
    handlers: [
      handle(short, (_payload, ctx) => {
        signals.set(ctx.job.id, ctx.signal);
        return gate.opened;
      }),
    ],
  });
  const [locked, free] = await Promise.all([
    enqueue(worker.prisma, short, {}),
    enqueue(worker.prisma, short, {}),
  ]);
  await waitFor(() => signals.size === 2);
  const psql = await table.session();
  await psql.query('BEGIN');
  await psql.query('SELECT FROM job_queue WHERE id = $1 FOR UPDATE', [locked.id]);

  // The other one's lease moves on while the locked one's runs out.
  const { lockUntil } = await table.row(locked.id);
  const renewedPastIt = async () => Number((await table.row(free.id)).lockUntil) > Number(lockUntil) + 2_000;
  await waitFor(renewedPastIt);
  expect(signals.get(locked.id)?.aborted).toBe(false);

  await psql.query('COMMIT');
  await waitFor(async () => Number((await table.row(locked.id)).lockUntil) > Number(lockUntil));
  gate.open();
  await waitFor(async () => (await table.states())['completed'] === 2);
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
});

test("a run's own long transaction that holds its row is not lost", async () => {
  const worker = startWorker({
    url: table.url,
    sweepIntervalMs: 600_000,
    handlers: [
      handle(short, (_payload, ctx) =>
        worker.prisma.$transaction(
          async (tx) => {
            await ctx.assertClaim(tx);
            await delay(4_000, undefined, { signal: ctx.signal });
            await ctx.complete(tx);
          },
          { timeout: 20_000 },
        ),
      ),
    ],
  });
  const { id } = await enqueue(worker.prisma, short, {});
  await waitFor(async () => (await stateOf(id)) === 'completed');
  expect(await table.row(id)).toMatchObject({ claims: 1, errors: [] });
});

test.each(['cut', 'swallow'] as const)(
  'runs are stopped when the database is away for a whole lease (%s)',
  async (fault) => {
    const proxy = await startProxy(table.url);
    let context: JobContext | undefined;
    const worker = startWorker({
      url: proxy.url,
      leaseThread: true,
      handlers: [
        handle(short, (_payload, ctx) => {
          context = ctx;
          return delay(60_000, undefined, { signal: ctx.signal });
        }),
      ],
    });
    const { id } = await enqueue(worker.prisma, short, {});
    await waitFor(() => context);
    proxy[fault]();
    await waitFor(() => context?.signal.aborted);
    expect(context?.signal.reason).toMatchObject({ code: 'CLAIM_LOST', id });
    expect(worker.said('lease not renewed in time, run stopped')).toMatchObject([{ id, leaseMs: 2_000 }]);
    proxy.mend();
  },
);

test('a handler that dawdles after its transaction completed the job has lost nothing', async () => {
  let reason: unknown = 'not aborted';
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(short, async (_payload, ctx) => {
        await worker.prisma.$transaction((tx) => ctx.complete(tx, { by: 'its transaction' }));
        await delay(3_000);
        if (ctx.signal.aborted) reason = ctx.signal.reason;
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, short, {});
  await waitFor(async () => (await worker.metric('fencepost_settled_total', { settle: 'complete' })) === 1);
  expect(reason).toBe('not aborted');
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
  expect(await table.row(id)).toMatchObject({
    state: 'completed',
    claims: 1,
    result: { by: 'its transaction' },
  });
});

test('a cancel request that comes during a renewal is heard by the next one, at once', async () => {
  const answer = createGate();
  let renewals = 0;
  let aborted: unknown;
  const worker = startWorker({
    url: table.url,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        const rows = await prisma.$queryRaw<T>(query, ...values);
        if (query.join('').includes(RENEWAL) && ++renewals === 1) await answer.opened;
        return rows;
      },
    }),
    handlers: [
      handle(long, (_payload, ctx) => {
        ctx.signal.addEventListener('abort', () => (aborted = ctx.signal.reason));
        return delay(60_000, undefined, { signal: ctx.signal });
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, long, {});
  await waitFor(() => worker.health().running === 1 && worker.health().listening);
  await askWorkersToRenew();
  // It has been answered before the request, and has not arrived yet.
  await waitFor(() => renewals === 1);
  const heard = await listenFor('cancel');
  expect(await cancel(worker.prisma, id)).toEqual({ outcome: 'requested' });
  await heard();
  answer.open();

  await waitFor(() => aborted);
  expect(aborted).toMatchObject({ code: 'JOB_CANCELLED' });
  await waitFor(async () => (await stateOf(id)) === 'cancelled');
});

test('a claim that is gone is told once, however often is asked', async () => {
  const statements = noteStatements();
  const gate = createGate();
  const signals = new Map<string, AbortSignal>();
  const worker = startWorker({
    url: table.url,
    clientOf: statements.clientOf,
    handlers: [
      handle(long, (_payload, ctx) => {
        signals.set(ctx.job.id, ctx.signal);
        return gate.opened;
      }),
    ],
  });
  const [gone, kept] = await Promise.all([
    enqueue(worker.prisma, long, {}),
    enqueue(worker.prisma, long, {}),
  ]);
  await waitFor(() => signals.size === 2 && worker.health().listening);
  await table.query('UPDATE job_queue SET "claimToken" = gen_random_uuid() WHERE id = $1', [gone.id]);
  for (let asked = 1; asked <= 3; asked++) {
    const before = statements.count(RENEWAL);
    await askWorkersToRenew();
    await waitFor(() => statements.count(RENEWAL) > before && signals.get(gone.id)?.aborted);
  }
  expect(signals.get(gone.id)?.reason).toMatchObject({ code: 'CLAIM_LOST', id: gone.id });
  expect(signals.get(kept.id)?.aborted).toBe(false);
  expect(await worker.metric('fencepost_fenced_total', { op: 'renew' })).toBe(1);
  expect(worker.said('fenced write: this claim no longer owns the row')).toMatchObject([
    { op: 'renew', id: gone.id, type: 'test.long', lost: null },
  ]);
  gate.open();
});

test.each([
  { what: 'fails', fault: () => Promise.reject(new Error('connection reset')) },
  { what: 'is never answered', fault: () => new Promise<never>(() => {}) },
])('one renewal that $what does not cost a claim of the shortest lease', async ({ fault }) => {
  let renewals = 0;
  let aborted = false;
  const worker = startWorker({
    url: table.url,
    // Slow, so that a busy machine does not spend the lease; and no sweep, because the database's clock is not.
    clock: createTestClock(0.3),
    sweepIntervalMs: 600_000,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes(RENEWAL) && ++renewals === 1) await fault();
        return prisma.$queryRaw<T>(query, ...values);
      },
    }),
    handlers: [
      handle(shortest, async (_payload, ctx) => {
        await delay(5_000);
        aborted = ctx.signal.aborted;
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, shortest, {});
  await waitFor(async () => (await stateOf(id)) === 'completed');
  expect(renewals).toBeGreaterThan(1);
  expect(aborted).toBe(false);
});

/** Resolves when a notification has come, as it has to whoever else listens. */
async function listenFor(word: string): Promise<() => Promise<void>> {
  const session = await table.session();
  const heard = createGate();
  session.on('notification', (message) => {
    if (message.payload === word) heard.open();
  });
  await session.query('LISTEN job_queue');
  return async () => {
    await heard.opened;
    // The worker's connection is another one: a moment for it.
    await delay(200);
  };
}
