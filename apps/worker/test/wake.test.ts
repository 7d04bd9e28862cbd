/** An idle worker, whose poll is a minute away, starts what is due as soon as it is committed, or as soon as it is due. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { cancel, defineJob, enqueue, handle, retry } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker, type TestWorker } from './fixtures/start-worker.ts';
import { noteStatements, type Statements } from './fixtures/statements.ts';
import { createTestClock } from './fixtures/test-clock.ts';
import { untilIdle } from './fixtures/until-idle.ts';

const payload = z.object({});
const contract = defineJob({ type: 'test.wake', payload, lease: '1h' });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const completed = async (id: string) => (await table.row(id)).state === 'completed' && table.row(id);
/** By the database's clock: how long after it was due was the job started? */
const latenessMs = async (id: string) => {
  const { runAt, claimedAt } = await table.row(id);
  return Number(claimedAt) - Number(runAt);
};

describe('an idle worker', () => {
  const start = () => startWorker({ url: table.url, handlers: [handle(contract, async () => {})] });

  test('starts a job that was enqueued in a transaction, with the commit and not before', async () => {
    const worker = start();
    await untilIdle(worker);
    const id = await worker.prisma.$transaction(async (tx) => {
      const outcome = await enqueue(tx, contract, {});
      // Committed later than it was inserted.
      await delay(300);
      expect(worker.health().loopIdleMs).toBeGreaterThan(300);
      return outcome.id;
    });
    await waitFor(() => completed(id));
  });

  test.each([
    {
      who: 'prisma.jobQueue.create',
      insert: async ({ prisma }: TestWorker) =>
        (await prisma.jobQueue.create({ data: { type: 'test.wake' } })).id,
    },
    {
      who: 'psql',
      insert: async () => {
        const [row] = await table.query<{ id: string }>(
          `INSERT INTO job_queue (type, payload) VALUES ('test.wake', '{}') RETURNING id`,
        );
        return row?.id ?? '';
      },
    },
  ])('starts a job that was inserted with $who', async ({ insert }) => {
    const worker = start();
    await untilIdle(worker);
    const id = await insert(worker);
    await waitFor(() => completed(id));
    expect(await latenessMs(id)).toBeLessThan(5_000);
  });

  test('hears nothing of what was rolled back, nor of what is due in more than a minute', async () => {
    const worker = start();
    await untilIdle(worker);
    const session = await table.session();
    const heard: string[] = [];
    session.on('notification', ({ payload: said }) => heard.push(said ?? ''));
    await session.query('LISTEN job_queue');

    const rolledBack = worker.prisma.$transaction(async (tx) => {
      await enqueue(tx, contract, {});
      throw new Error('and back');
    });
    await expect(rolledBack).rejects.toThrow('and back');
    await enqueue(worker.prisma, contract, {}, { delay: '61s' });
    // Notifications come in the order of commits: what those two had sent would be there before this.
    await table.query(`SELECT pg_notify('job_queue', 'cancel')`);
    await waitFor(() => heard.includes('cancel'));

    expect(heard).toEqual(['cancel']);
    expect(worker.health().loopIdleMs).toBeGreaterThan(1_000);
    expect(await table.states()).toEqual({ pending: 1 });
  });

  test('starts a delayed job at its time', async () => {
    const worker = start();
    await untilIdle(worker);
    const { id } = await enqueue(worker.prisma, contract, {}, { delay: '2s' });
    await waitFor(() => completed(id));
    expect(await latenessMs(id)).toBeGreaterThanOrEqual(0);
    expect(await latenessMs(id)).toBeLessThan(1_500);
  });

  test('starts what an operator retries', async () => {
    const worker = start();
    const { id } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => completed(id));
    await untilIdle(worker);
    expect(await retry(worker.prisma, id)).toEqual({ outcome: 'retried' });
    await waitFor(async () => (await completed(id)) && (await table.row(id)).claims === 2);
    expect(await latenessMs(id)).toBeLessThan(5_000);
  });
});

test('a failed job starts again when its delay is over', async () => {
  const retried = defineJob({ type: 'test.retried', payload, retry: { base: '2s', max: '2s' } });
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(retried, async (_payload, ctx) => {
        if (ctx.attempt === 1) throw new Error('not yet');
      }),
    ],
  });
  await untilIdle(worker);
  const { id } = await enqueue(worker.prisma, retried, {});
  await waitFor(() => completed(id));
  // runAt is where the failure has put it: one to two seconds on.
  const { runAt, errors } = await table.row(id);
  const failedAt = Date.parse((errors[0] as unknown as { at: string }).at);
  expect(Number(runAt) - failedAt).toBeGreaterThan(900);
  expect(Number(runAt) - failedAt).toBeLessThan(2_100);
  expect(await latenessMs(id)).toBeGreaterThanOrEqual(0);
  expect(await latenessMs(id)).toBeLessThan(1_500);
});

test('a due job whose row somebody has locked starts soon after it is let go', async () => {
  const [job] = await table.query<{ id: string }>(
    `INSERT INTO job_queue (type) VALUES ('test.wake') RETURNING id`,
  );
  const id = job?.id ?? '';
  const psql = await table.session();
  await psql.query('BEGIN');
  await psql.query('SELECT FROM job_queue FOR UPDATE');
  const statements = noteStatements();
  startWorker({
    url: table.url,
    clientOf: statements.clientOf,
    handlers: [handle(contract, async () => {})],
  });
  await pollsGoOn(statements);
  // It may be locked for hours: the looks for it have become rare.
  const [looks, since] = [statements.count('"claimed" AS ('), performance.now()];
  await waitFor(() => statements.count('"claimed" AS (') >= looks + 2);
  expect(performance.now() - since).toBeGreaterThan(500);
  await psql.query('COMMIT');
  await waitFor(() => completed(id));
});

test('a running job hears of its cancellation at once', async () => {
  const worker = startWorker({
    url: table.url,
    handlers: [handle(contract, (_payload, ctx) => delay(60_000, undefined, { signal: ctx.signal }))],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.health().running === 1);
  await untilIdle(worker);
  // By another process, as far as the worker can tell. Its own renewal is twenty minutes away.
  expect(await cancel(worker.prisma, id)).toEqual({ outcome: 'requested' });
  await waitFor(async () => (await table.row(id)).state === 'cancelled', { timeout: 5_000 });
});

describe('a connection for wake-ups', () => {
  test('that the server ends is replaced, and what was missed is looked for', async () => {
    const statements = noteStatements();
    const worker = startWorker({
      url: table.url,
      sweepIntervalMs: 600_000,
      clientOf: statements.clientOf,
      handlers: [handle(contract, async () => {})],
    });
    await untilIdle(worker);
    expect(await worker.metric('fencepost_listening')).toBe(1);
    const sweeps = statements.count('"reclaimed" AS (');

    // What nobody renews has run out by the time that the connection is back.
    await table.query(`
      INSERT INTO job_queue (id, type, state, "claimToken", "lockUntil", "retryDelayMs", attempts, claims)
      VALUES ('${randomUUID()}', 'test.wake', 'running', gen_random_uuid(), now() - interval '1 minute', 1, 1, 1)`);
    await table.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'wake-ups'`,
    );
    await waitFor(() => worker.said('wake-ups lost, polling until they are back').length === 1);
    await waitFor(() => worker.said('listening for wake-ups').length === 2);
    await waitFor(async () => (await table.states())['completed'] === 1);
    expect(statements.count('"reclaimed" AS (')).toBe(sweeps + 1);

    await untilIdle(worker);
    const { id } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => completed(id));
    expect(worker.log.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test('that cannot be had again leaves the poll, in short steps', async () => {
    const proxy = await startProxy(table.url);
    const statements = noteStatements();
    const worker = startWorker({
      url: table.url,
      listenUrl: proxy.url,
      clientOf: statements.clientOf,
      handlers: [handle(contract, async () => {})],
    });
    await untilIdle(worker);
    proxy.cut();
    await waitFor(() => !worker.health().listening);
    expect(await worker.metric('fencepost_listening')).toBe(0);
    await pollsGoOn(statements);
    const { id } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => completed(id));
    expect(worker.health().listening).toBe(false);
  });

  test('that a network swallows is missed, and replaced', async () => {
    const proxy = await startProxy(table.url);
    const worker = startWorker({
      url: table.url,
      listenUrl: proxy.url,
      // Its heartbeat comes every fifteen seconds.
      clock: createTestClock(10),
      handlers: [handle(contract, async () => {})],
    });
    await waitFor(() => worker.health().listening);
    proxy.swallow();
    const losses = () => worker.said('wake-ups lost, polling until they are back');
    await waitFor(() => losses().length > 0);
    expect(JSON.stringify(losses()[0])).toContain('no answer within');
    // A new connection is swallowed as well.
    await waitFor(() => losses().length > 1);
    proxy.mend();
    await waitFor(() => worker.health().listening);
  });

  test('is not needed: without one the poll comes twice a second', async () => {
    const statements = noteStatements();
    const worker = startWorker({
      url: table.url,
      listenUrl: null,
      clientOf: statements.clientOf,
      handlers: [handle(contract, async () => {})],
    });
    await pollsGoOn(statements);
    const { id } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => completed(id));
    expect(worker.health().listening).toBe(false);
  });
});

/** After half a dozen looks in quick succession the next one would be a minute away. */
async function pollsGoOn(statements: Statements): Promise<void> {
  const before = statements.count('"claimed" AS (');
  await waitFor(() => statements.count('"claimed" AS (') >= before + 9);
}
