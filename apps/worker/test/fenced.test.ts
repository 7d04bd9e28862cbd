/** A fenced write does not pass unseen: it is logged at warn with what was lost, and counted. */
import { defineJob, enqueue, handle } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createFencedReport } from '../src/fenced.ts';
import { createMetrics } from '../src/metrics.ts';
import { createGate } from './fixtures/gate.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { startWorker } from './fixtures/start-worker.ts';

const SAID = 'fenced write: this claim no longer owns the row';

test('the report names the write, the job, the token and what was lost', async () => {
  const lines: unknown[] = [];
  const metrics = createMetrics();
  const report = createFencedReport(pino({}, { write: (line) => lines.push(JSON.parse(line)) }), metrics);
  const job = { id: 'an id', type: 'a type', claimToken: 'a token' };
  report({ op: 'progress', job, lost: { at: 7 } });
  expect(lines).toMatchObject([{ level: 40, msg: SAID, op: 'progress', ...job, lost: '{"at":7}' }]);
  expect((await metrics.fenced.get()).values).toContainEqual({ labels: { op: 'progress' }, value: 1 });
});

test('a settlement that comes after the loss is told with its error', async () => {
  const table = await createJobTable();
  const gate = createGate();
  const contract = defineJob({ type: 'test.fenced', payload: z.object({}), lease: '1h' });
  const worker = startWorker({
    url: table.url,
    handlers: [
      handle(contract, async () => {
        await gate.opened;
        throw new Error('what the run failed of');
      }),
    ],
  });
  const { id } = await enqueue(worker.prisma, contract, {});
  await waitFor(() => worker.health().running === 1);
  const { claimToken } = await table.row(id);
  await table.query('UPDATE job_queue SET "claimToken" = gen_random_uuid() WHERE id = $1', [id]);
  const taken = await table.row(id);
  gate.open();
  await waitFor(() => worker.said(SAID).length > 0);
  expect(worker.said(SAID)).toMatchObject([
    {
      ...{ level: 40, op: 'settle', id, type: 'test.fenced', claimToken },
      lost: expect.stringContaining('what the run failed of') as string,
    },
  ]);
  expect(await worker.metric('fencepost_fenced_total', { op: 'settle' })).toBe(1);
  expect(await table.row(id)).toEqual(taken);
  await table.close();
});
