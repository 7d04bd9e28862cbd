/** A claim whose answer comes after its lease has run out may be somebody else's by then. */
import { defineJob, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

test('it is not started but handed back, uncharged', async () => {
  const table = await createJobTable();
  const quick = defineJob({ type: 'test.quick', payload: z.object({}), lease: '2s' });
  const answer = createGate();
  const clock = createTestClock();
  const fences: number[] = [];
  let claims = 0;
  // Before the worker, so that its first claim brings it.
  const [job] = await table.query<{ id: string }>(
    `INSERT INTO job_queue (type) VALUES ('test.quick') RETURNING id`,
  );
  const id = job?.id ?? '';
  const worker = startWorker({
    url: table.url,
    clock,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        const rows = await prisma.$queryRaw<T>(query, ...values);
        if (query.join('').includes('"dealt" AS') && ++claims === 1) await answer.opened;
        return rows;
      },
    }),
    handlers: [handle(quick, async (_payload, ctx) => void fences.push(ctx.fence))],
  });
  await waitFor(() => claims === 1);
  clock.jump(2_100);
  answer.open();

  await waitFor(async () => (await table.row(id)).state === 'completed');
  expect(await table.row(id)).toMatchObject({ attempts: 1, claims: 2 });
  expect(fences).toEqual([2]);
  expect(worker.said('job handed back')).toMatchObject([{ id }]);
  await table.close();
});
