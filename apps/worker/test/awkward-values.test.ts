/** What Postgres cannot store, in errors, progress and results: a failure that cannot be written is a job that hangs. */
import { defineJob, enqueue, findJob, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createJobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const AWKWARD = [
  'with \0 NUL',
  'lone \uD800 surrogate',
  'x'.repeat(100_000),
  'emoji 🦔',
  'cut 🦔'.padStart(2_000, '-'),
];

test('jobs that fail or answer with awkward texts end as any other', async () => {
  const table = await createJobTable();
  const contract = defineJob({
    type: 'test.awkward',
    payload: z.object({ text: z.number() }),
    maxAttempts: 1,
  });
  const answering = defineJob({ type: 'test.answering', payload: z.object({ text: z.number() }) });
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(contract, async ({ text }) => {
        throw new Error(AWKWARD[text]);
      }),
      handle(answering, async ({ text }, ctx) => {
        await ctx.progress({ [AWKWARD[text] ?? '']: AWKWARD[text] });
        return AWKWARD[text];
      }),
    ],
  });
  for (const text of AWKWARD.keys()) {
    await enqueue(worker.prisma, contract, { text });
    await enqueue(worker.prisma, answering, { text });
  }
  await waitFor(async () => {
    const { dead, completed } = await table.states();
    return dead === AWKWARD.length && completed === AWKWARD.length;
  });
  for (const { id } of await table.query<{ id: string }>('SELECT id FROM job_queue')) {
    const job = await findJob(worker.prisma, id);
    expect(job).toMatchObject(job?.state === 'dead' ? { errors: [{ kind: 'failed' }] } : { errors: [] });
  }
  expect(worker.said('statement failed')).toEqual([]);
  expect(worker.said('progress not written')).toEqual([]);
  await table.close();
});

test('a payload of 100 KB with emoji arrives as it was', async () => {
  const table = await createJobTable();
  const contract = defineJob({ type: 'test.large', payload: z.object({ text: z.string() }) });
  const text = '🦔 hedge\n"quote" \\'.repeat(6_000);
  let arrived: string | undefined;
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(contract, async (received) => {
        arrived = received.text;
      }),
    ],
  });
  await enqueue(worker.prisma, contract, { text });
  await waitFor(() => arrived);
  expect(arrived === text).toBe(true);
  await table.close();
});

test('an error that cannot be read, thrown after ctx.complete, costs neither its slot nor the worker', async () => {
  const table = await createJobTable();
  const contract = defineJob({ type: 'test.unreadable', payload: z.object({}) });
  const unreadable = Object.defineProperty(new Error('unreadable'), 'detail', {
    enumerable: true,
    get() {
      throw new Error('no');
    },
  });
  const worker = startWorker({
    url: table.url,
    concurrency: 1,
    handlers: [
      handle(contract, async (_, ctx) => {
        await worker.prisma.$transaction((tx) => ctx.complete(tx));
        throw unreadable;
      }),
    ],
  });
  await enqueue(worker.prisma, contract, {});
  await enqueue(worker.prisma, contract, {});
  await waitFor(async () => (await table.states())['completed'] === 2);
  await waitFor(() => worker.health().running === 0);
  expect(worker.said('handler threw after ctx.complete')).toHaveLength(2);
  await table.close();
});
