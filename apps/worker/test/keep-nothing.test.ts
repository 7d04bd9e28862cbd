/** A worker that keeps nothing: what completes is gone, counted and logged as ever, and what does not complete stays. */
import type { PrismaClient } from '@fencepost/db';
import { defineJob, DiscardError, enqueue, enqueueMany, handle, type QueueClient } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { noteStatements } from './fixtures/statements.ts';

const payload = z.object({});
const contract = defineJob({
  type: 'test.gone',
  payload,
  lease: '30s',
  retry: { base: '10ms', max: '10ms' },
});
const DELETED = '"deleted" AS (';

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterAll(() => table.close());

const isGone = async (id: string) =>
  (await table.query('SELECT FROM job_queue WHERE id = $1', [id])).length === 0;

/** The database does what it is asked, and the first answer to a statement with this text is lost. */
function losingAnAnswer(text: string, meanwhile: () => Promise<unknown> = async () => {}) {
  let isLost = false;
  const clientOf = (prisma: PrismaClient): QueueClient => ({
    jobQueue: prisma.jobQueue,
    $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
    $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
      const rows = await prisma.$queryRaw<T>(query, ...values);
      if (query.join('').includes(text) && !isLost) {
        isLost = true;
        await meanwhile();
        throw new Error('connection reset');
      }
      return rows;
    },
  });
  return { clientOf, isLost: () => isLost };
}

test('jobs that complete are deleted together, and counted as completed', async () => {
  const gate = createGate();
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    concurrency: 100,
    clientOf: statements.clientOf,
    handlers: [handle(contract, () => gate.opened)],
  });
  await enqueueMany(
    worker.prisma,
    contract,
    Array.from({ length: 100 }, () => ({ payload: {} })),
  );
  await waitFor(() => worker.health().running === 100);
  gate.open();
  await waitFor(async () => Object.keys(await table.states()).length === 0);
  await waitFor(async () => (await worker.metric('fencepost_settled_total')) === 100);
  expect(await worker.metric('fencepost_settled_total', { settle: 'complete' })).toBe(100);
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
  expect(worker.said('job completed')).toHaveLength(100);
  expect(statements.count(DELETED)).toBeLessThanOrEqual(5);
  expect(statements.count('"completed" AS (')).toBe(0);
});

test('a job that dies stays, and so does one that is tried again until it completes', async () => {
  let attempts = 0;
  const doomed = defineJob({ type: 'test.doomed', payload });
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    handlers: [
      handle(contract, async () => {
        if (++attempts < 3) throw new Error('not yet');
      }),
      handle(doomed, async () => {
        throw new DiscardError('never');
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  const { id: dead } = await enqueue(worker.prisma, doomed, {});
  await waitFor(() => isGone(id));
  expect(attempts).toBe(3);
  await waitFor(async () => (await table.row(dead)).state === 'dead');
});

test('a completion whose answer was lost is not taken for a lost claim', async () => {
  const answers = losingAnAnswer(DELETED);
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    clientOf: answers.clientOf,
    handlers: [handle(contract, async () => {})],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.said('job completed').length === 1);
  expect(answers.isLost()).toBe(true);
  expect(await isGone(id)).toBe(true);
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
  expect(await worker.metric('fencepost_settled_total', { settle: 'complete' })).toBe(1);
});

test('a failure whose answer was lost is not taken for a completion, whoever has completed the job since', async () => {
  // As if another worker had claimed it, completed it, and kept nothing.
  const answers = losingAnAnswer('"settled" AS (', () => table.query('DELETE FROM job_queue'));
  // Not due again before it is gone: this worker would claim it, and be fenced for that claim as well.
  const failing = defineJob({ type: 'test.gone.failing', payload, retry: { base: '1h' } });
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    clientOf: answers.clientOf,
    handlers: [
      handle(failing, async () => {
        throw new Error('no luck');
      }),
    ],
  });
  await enqueue(worker.prisma, failing, {});
  await waitFor(async () => (await worker.metric('fencepost_fenced_total', { op: 'settle' })) === 1);
  expect(answers.isLost()).toBe(true);
  expect(await worker.metric('fencepost_settled_total')).toBe(0);
  expect(worker.said('job completed')).toEqual([]);
});

test('a run that returns after its job was completed by another and is gone is fenced', async () => {
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    handlers: [handle(contract, () => gate.opened)],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.health().running === 1);
  await table.query('DELETE FROM job_queue WHERE id = $1', [id]);
  gate.open();
  await waitFor(async () => (await worker.metric('fencepost_fenced_total', { op: 'settle' })) === 1);
  expect(await worker.metric('fencepost_settled_total')).toBe(0);
});

test('a job that was completed in its own transaction is gone with it, and counts as completed', async () => {
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    handlers: [
      handle(contract, (_payload, ctx) =>
        worker.prisma.$transaction(async (tx) => {
          await ctx.complete(tx);
          await tx.$executeRaw`INSERT INTO test_effect VALUES (${ctx.job.id}::uuid, ${ctx.fence}::int)`;
        }),
      ),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await worker.metric('fencepost_settled_total')) === 1);
  expect(await worker.metric('fencepost_settled_total', { settle: 'complete' })).toBe(1);
  expect(worker.said('job completed')).toMatchObject([{ id, attempts: 1 }]);
  expect(await isGone(id)).toBe(true);
  expect(await table.query('SELECT job, fence FROM test_effect')).toEqual([{ job: id, fence: 1 }]);
});

test('a row that somebody has locked waits, is deleted afterwards, and is not fenced', async () => {
  const gate = createGate();
  const worker = startWorker({
    url: table.url,
    keepCompleted: false,
    handlers: [handle(contract, () => gate.opened)],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  const { id: free } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.health().running === 2);
  const psql = await table.session();
  await psql.query('BEGIN');
  await psql.query('SELECT FROM job_queue WHERE id = $1 FOR KEY SHARE', [id]);
  gate.open();
  await waitFor(() => isGone(free));
  expect((await table.row(id)).state).toBe('running');
  await psql.query('COMMIT');
  await waitFor(() => isGone(id));
  expect(await worker.metric('fencepost_fenced_total')).toBe(0);
});

test('a foreign key that lets nothing be deleted keeps the job from completing, and no other', async () => {
  await table.query('CREATE TABLE app_row (job uuid REFERENCES job_queue (id))');
  try {
    const gate = createGate();
    const kept = defineJob({ type: 'test.kept', payload, lease: '30s' });
    const worker = startWorker({
      url: table.url,
      keepCompleted: false,
      handlers: [handle(contract, () => gate.opened), handle(kept, () => gate.opened)],
    });
    const { id } = await enqueue(worker.prisma, kept, {});
    await table.query('INSERT INTO app_row VALUES ($1)', [id]);
    const { id: free } = await enqueue(worker.prisma, contract, {});
    await waitFor(() => worker.health().running === 2);
    gate.open();
    await waitFor(() => isGone(free));
    await waitFor(() => worker.said('settlement not written, left to the sweep').length === 1);
    expect(worker.said('settlement not written, left to the sweep')).toMatchObject([
      { id, why: 'the database refuses it' },
    ]);
    expect((await table.row(id)).state).toBe('running');
  } finally {
    await table.query('DROP TABLE app_row');
  }
});
