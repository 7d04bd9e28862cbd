/** The steps of a drain, one by one, in a worker within the test's own process. The whole of it: sigterm.process.test.ts. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, enqueue, handle, type JobContext } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock, within } from '../src/clock.ts';
import { createGate } from './fixtures/gate.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { noteStatements } from './fixtures/statements.ts';

const payload = z.object({});
const obedient = defineJob({ type: 'test.obedient', payload });
const deaf = defineJob({ type: 'test.deaf', payload });
const brief = defineJob({ type: 'test.brief', payload, lease: '1s' });
const HANDED_BACK = { state: 'pending', attempts: 0, claims: 1, crashes: 0, errors: [], claimToken: null };
/** Longer than any drain of these tests takes, and shorter than what it waits for where it should not wait. */
const SOON_MS = 15_000;

let table: JobTable;
/** Lets every handler return, so that a drain which waits for one ends with its test. */
let over = createGate();
beforeAll(async () => {
  table = await createJobTable();
});
beforeEach(async () => {
  over = createGate();
  await table.query('TRUNCATE job_queue, test_history, test_effect');
});
afterEach(() => over.open());
afterAll(() => table.close());

function startRuns() {
  const contexts: JobContext[] = [];
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(obedient, async (_payload, ctx) => {
        contexts.push(ctx);
        await Promise.race([over.opened, delay(600_000, undefined, { signal: ctx.signal })]);
      }),
      handle(deaf, async (_payload, ctx) => {
        contexts.push(ctx);
        await over.opened;
      }),
    ],
  });
  return { worker, contexts };
}

const soon = (drained: Promise<void>) => within(systemClock, SOON_MS, drained);

test('at its deadline what still runs is told to stop, and handed back uncharged', async () => {
  const { worker, contexts } = startRuns();
  const ids = [await enqueue(worker.prisma, obedient, {}), await enqueue(worker.prisma, deaf, {})];
  await waitFor(() => contexts.length === 2);
  expect(await soon(worker.drain({ timeoutMs: 100 }))).toBe(true);
  for (const { signal } of contexts) expect(signal.reason).toMatchObject({ code: 'DRAIN_DEADLINE' });
  for (const { id } of ids) expect(await table.row(id)).toMatchObject(HANDED_BACK);
  expect(worker.said('drain ended')).toMatchObject([{ stopped: 2, released: 1 }]);
});

test('it tells handlers to reach a checkpoint, and does not stop them before its deadline', async () => {
  const { worker, contexts } = startRuns();
  const { id } = await enqueue(worker.prisma, deaf, {});
  await waitFor(() => contexts.length === 1);
  const drained = worker.drain({ timeoutMs: 600_000 });
  expect(contexts[0]?.draining.aborted).toBe(true);
  expect(contexts[0]?.signal.aborted).toBe(false);
  over.open();
  expect(await soon(drained)).toBe(true);
  expect(await table.row(id)).toMatchObject({ state: 'completed', attempts: 1 });
});

test('a second request ends the wait', async () => {
  const { worker, contexts } = startRuns();
  const { id } = await enqueue(worker.prisma, deaf, {});
  await waitFor(() => contexts.length === 1);
  const drained = worker.drain({ timeoutMs: 600_000 });
  worker.hurry();
  expect(await soon(drained)).toBe(true);
  expect(await table.row(id)).toMatchObject(HANDED_BACK);
});

test('it waits for the claim in flight, whose jobs are handed back without having begun', async () => {
  await table.query(`INSERT INTO job_queue (type) SELECT 'test.obedient' FROM generate_series(1, 3)`);
  const answer = createGate();
  let runs = 0;
  const worker = startWorker({
    url: table.url,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        const rows = await prisma.$queryRaw<T>(query, ...values);
        if (query.join('').includes('"claimed" AS (')) await answer.opened;
        return rows;
      },
    }),
    handlers: [handle(obedient, async () => void runs++)],
  });
  // Committed, and not yet answered.
  await waitFor(async () => (await table.states())['running'] === 3);
  const drained = worker.drain({ timeoutMs: 600_000 });
  const early = await within(systemClock, 300, drained);
  answer.open();
  expect(early).toBe(false);
  expect(await soon(drained)).toBe(true);
  expect(runs).toBe(0);
  for (const row of await table.query('SELECT * FROM job_queue')) expect(row).toMatchObject(HANDED_BACK);
});

test('leases are renewed until the last run has settled', async () => {
  const statements = noteStatements();
  const worker = startWorker({
    url: table.url,
    clientOf: statements.clientOf,
    handlers: [handle(brief, () => over.opened)],
  });
  const { id } = await enqueue(worker.prisma, brief, {});
  await waitFor(() => worker.health().running === 1);
  const drained = worker.drain({ timeoutMs: 600_000 });
  const { lockUntil } = await table.row(id);
  await waitFor(async () => Number((await table.row(id)).lockUntil) > Number(lockUntil) + 1_000);
  over.open();
  expect(await soon(drained)).toBe(true);
  expect(await table.row(id)).toMatchObject({ state: 'completed', claims: 1 });
});
