/** A run past its timeout has ended, and its claim is kept until that is written: the sweep is not to call it a crash. */
import { defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './fixtures/gate.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

test('while its settlement does not go through, its lease is renewed', async () => {
  const table = await createJobTable();
  const gate = createGate();
  const brief = defineJob({ type: 'test.brief', payload: z.object({}), lease: '2s', timeout: '100ms' });
  const worker = startWorker({
    url: table.url,
    sweepIntervalMs: 600_000,
    clientOf: (prisma) => ({
      jobQueue: prisma.jobQueue,
      $executeRaw: (query, ...values) => prisma.$executeRaw(query, ...values),
      $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes('"settled" AS (')) await gate.opened;
        return prisma.$queryRaw<T>(query, ...values);
      },
    }),
    handlers: [handle(brief, () => gate.opened)],
  });
  const { id } = await enqueue(worker.prisma, brief, {});
  await waitFor(async () => (await table.row(id)).state === 'running');
  const { lockUntil } = await table.row(id);
  await waitFor(async () => Number((await table.row(id)).lockUntil) > Number(lockUntil) + 1_000);
  gate.open();
  await waitFor(async () => (await table.row(id)).state === 'pending');
  expect(await table.row(id)).toMatchObject({ crashes: 0, errors: [{ kind: 'timeout' }] });
  await table.close();
});
