/** Settlements: tried again while the database fails, and none held up by another. */
import { defineJob, enqueue, enqueueMany, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startProxy } from './fixtures/proxy.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const payload = z.object({});
const contract = defineJob({
  type: 'test.settle',
  payload,
  lease: '30s',
  retry: { base: '10ms', max: '10ms' },
});
const brief = defineJob({ type: 'test.brief', payload, lease: '1s', retry: { base: '10ms', max: '10ms' } });

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const isCompleted = async (id: string) => (await table.row(id)).state === 'completed';

test('a database that is away for less than the lease costs a finished run nothing', async () => {
  const proxy = await startProxy(table.url);
  const gate = createGate();
  let runs = 0;
  const worker = startWorker({
    url: proxy.url,
    handlers: [
      handle(contract, () => {
        runs++;
        return gate.opened;
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => runs === 1);
  proxy.cut();
  gate.open();
  await waitFor(() => worker.said('statement failed').some(({ statement }) => statement === 'settle'));
  proxy.mend();
  await waitFor(() => isCompleted(id), { timeout: 20_000 });
  expect(await table.row(id)).toMatchObject({ attempts: 1, claims: 1, errors: [] });
  expect(runs).toBe(1);
});

test('one that is away for longer leaves the job to the sweep, and says so', async () => {
  const proxy = await startProxy(table.url);
  const gate = createGate();
  let runs = 0;
  const worker = startWorker({
    url: proxy.url,
    handlers: [
      handle(brief, () => {
        runs++;
        return gate.opened;
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, brief, {});
  await waitFor(() => runs === 1);
  proxy.cut();
  gate.open();
  await waitFor(() => worker.said('settlement not written, left to the sweep').length === 1);
  expect(await worker.metric('fencepost_settlements_abandoned_total')).toBe(1);
  expect(worker.said('settlement not written, left to the sweep')[0]).toMatchObject({
    id,
    type: 'test.brief',
    settlement: { settle: 'complete' },
    why: 'the database has not taken it for a whole lease',
  });
  proxy.mend();
  await waitFor(() => isCompleted(id), { timeout: 25_000 });
  expect(await table.row(id)).toMatchObject({ claims: 2, crashes: 1, errors: [{ kind: 'crashed' }] });
});

test('a settlement whose answer was lost is not taken for a lost claim', async () => {
  let lost = 0;
  const worker = startWorker({
    url: table.url,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        const rows = await prisma.$queryRaw<T>(query, ...values);
        // The database has done its part; the connection breaks under the answer.
        if (query.join('').includes('"completed" AS (') && lost++ === 0) throw new Error('connection reset');
        return rows;
      },
    }),
    handlers: [handle(contract, async () => {})],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.said('job completed').length === 1);
  expect(lost).toBe(1);
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
  expect(await table.row(id)).toMatchObject({ state: 'completed', claims: 1 });
});

test('a settlement whose answer never comes is sent again', async () => {
  let settlements = 0;
  const worker = startWorker({
    url: table.url,
    // A quarter of a minute is one and a half seconds.
    clock: createTestClock(10),
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes('"completed" AS (') && ++settlements === 1) await new Promise(() => {});
        return prisma.$queryRaw<T>(query, ...values);
      },
    }),
    handlers: [handle(contract, async () => {})],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => isCompleted(id));
  expect(settlements).toBe(2);
  expect(await table.row(id)).toMatchObject({ claims: 1, errors: [] });
});

/** A database that refuses the completion of one job: its payload says so. */
async function refuseCompletion(id: string, state: string): Promise<void> {
  await table.query(`
    CREATE OR REPLACE FUNCTION test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'refused' USING ERRCODE = '${state}';
    END $$;
    CREATE OR REPLACE TRIGGER test_refuse BEFORE UPDATE ON job_queue FOR EACH ROW
    WHEN (NEW.id = '${id}' AND NEW.state = 'completed')
    EXECUTE FUNCTION test_refuse();`);
}

test.each([
  { refusal: '22023', what: 'bad data', lease: '1s' },
  { refusal: 'P0001', what: 'a trigger of somebody', lease: '6s' },
] as const)(
  'one settlement that the database refuses ($what) holds up no other',
  async ({ refusal, lease }) => {
    const gate = createGate();
    const poisoned = defineJob({ type: 'test.poisoned', payload, lease, maxCrashes: 1 });
    const worker = startWorker({
      url: table.url,
      handlers: [handle(contract, () => gate.opened), handle(poisoned, () => gate.opened)],
    });
    const { id: poison } = await enqueue(worker.prisma, poisoned, {});
    await refuseCompletion(poison, refusal);
    try {
      await enqueueMany(
        worker.prisma,
        contract,
        Array.from({ length: 9 }, () => ({ payload: {} })),
      );
      await waitFor(() => worker.health().running === 10);
      gate.open();
      // Long before that one is given up; and so do those that come after it.
      await waitFor(async () => (await table.states())['completed'] === 9, { timeout: 4_000 });
      const later = await enqueue(worker.prisma, contract, {});
      await waitFor(() => isCompleted(later.id));

      await waitFor(() => worker.said('settlement not written, left to the sweep').length === 1);
      await waitFor(async () => (await table.row(poison)).state === 'dead', { timeout: 20_000 });
      expect(await table.row(poison)).toMatchObject({ crashes: 1, errors: [{ kind: 'crashed' }] });
    } finally {
      await table.query('DROP TRIGGER test_refuse ON job_queue');
    }
  },
);

test('a row that somebody has locked waits alone', async () => {
  const gate = createGate();
  const waiting = defineJob({ type: 'test.waiting', payload });
  const worker = startWorker({
    url: table.url,
    handlers: [handle(waiting, () => gate.opened), handle(contract, async () => {})],
  });
  const { id } = await enqueue(worker.prisma, waiting, {});
  await waitFor(() => worker.health().running === 1);
  const psql = await table.session();
  await psql.query('BEGIN');
  await psql.query('SELECT FROM job_queue WHERE id = $1 FOR UPDATE', [id]);
  gate.open();
  await waitFor(() => worker.health().running === 0);

  // One after the other, each as soon as the last is settled: a settlement that waits for the lock shows in the sum.
  const delays: number[] = [];
  for (let job = 0; job < 20; job++) {
    const next = await enqueue(worker.prisma, contract, {});
    await waitFor(() => isCompleted(next.id), { interval: 5 });
    const { finishedAt, claimedAt } = await table.row(next.id);
    delays.push(Number(finishedAt) - Number(claimedAt));
  }
  expect((await table.row(id)).state).toBe('running');
  expect(median(delays)).toBeLessThan(200);

  await psql.query('COMMIT');
  await waitFor(() => isCompleted(id));
  expect(await table.row(id)).toMatchObject({ claims: 1, errors: [] });
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
});

test('a claim that took longer than its lease is not given up because its row is locked for a moment', async () => {
  const clock = createTestClock();
  const psql = await table.session();
  let settlements = 0;
  const worker = startWorker({
    url: table.url,
    sweepIntervalMs: 600_000,
    clock,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes('"completed" AS (') && ++settlements === 1) {
          await psql.query('BEGIN');
          await psql.query('SELECT FROM job_queue FOR UPDATE');
          clock.jump(2 * contract.leaseMs);
        }
        return prisma.$queryRaw<T>(query, ...values);
      },
    }),
    handlers: [handle(contract, async () => {})],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => settlements === 2);
  await psql.query('COMMIT');
  await waitFor(() => isCompleted(id));
  expect(worker.said('settlement not written, left to the sweep')).toEqual([]);
});

test('a job that was completed in its own transaction counts as completed', async () => {
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(contract, async (_payload, ctx) => worker.prisma.$transaction((tx) => ctx.complete(tx))),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await worker.metric('fencepost_settled_total')) === 1);
  expect(await worker.metric('fencepost_settled_total', { type: 'test.settle', settle: 'complete' })).toBe(1);
  expect(worker.said('attempt failed')).toEqual([]);
  expect(worker.said('job completed')).toMatchObject([{ id, attempts: 1 }]);
});

test('one whose own transaction rolled back has failed', async () => {
  let runs = 0;
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(contract, async (_payload, ctx) => {
        if (++runs > 1) return;
        const rolledBack = worker.prisma.$transaction(async (tx) => {
          await ctx.complete(tx);
          throw new Error('and back');
        });
        await rolledBack.catch(() => {});
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => isCompleted(id));
  expect(await table.row(id)).toMatchObject({ attempts: 2, errors: [{ kind: 'failed' }] });
  expect((await table.row(id)).errors[0]?.message).toContain('did not commit');
  expect(worker.said('attempt failed')).toMatchObject([{ id, attempts: 1 }]);
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
