/** A worker that was stopped for longer than its lease and goes on: it can change nothing, and everybody hears of it. */
import { createPrisma } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable } from './fixtures/job-table.ts';
import { spawnWorker, type WorkerProcess } from './fixtures/spawn-worker.ts';

const contracts = { lease: '2s' } as const;

test('the writes of a run that lost its claim change nothing, and are logged and counted', async () => {
  const table = await createJobTable();
  const prisma = createPrisma(table.url);
  const settings = { url: table.url, contracts };
  const stopped = await spawnWorker(settings);
  const { writer, finisher } = testContracts(contracts);
  const { id } = await enqueue(prisma, writer, {});
  const { id: finished } = await enqueue(prisma, finisher, {});
  await waitFor(() => stopped.said('run began').length === 2);
  const { claimToken } = await table.row(id);
  stopped.signal('SIGSTOP');

  const heir = await spawnWorker(settings);
  await waitFor(() => heir.said('run began').length === 2, { timeout: 30_000 });
  const owned = await Promise.all([id, finished].map((job) => table.row(job)));
  for (const row of owned) expect(row).toMatchObject({ state: 'running', claims: 2, crashes: 1 });

  // Told to write before it goes on: that is what it finds first.
  stopped.signal('SIGUSR2');
  stopped.signal('SIGCONT');
  const fencedBy = (op: string) =>
    stopped.said('fenced write: this claim no longer owns the row').filter((line) => line['op'] === op);
  await waitFor(() => fencedBy('settle').length === 2);

  for (const { lockUntil: _renewedMeanwhile, ...before } of owned) {
    expect(await table.row(before.id)).toMatchObject(before);
  }
  expect(await table.query('SELECT * FROM test_effect')).toEqual([]);
  expect(writesOf(stopped)).toEqual([
    { write: 'progress', code: 'CLAIM_LOST' },
    { write: 'assertClaim', code: 'CLAIM_LOST' },
    { write: 'complete', code: 'CLAIM_LOST' },
  ]);
  // The one that only returns may have done so before the worker looked at its lease.
  const told = stopped.said('run told to stop').map((line) => ({ told: line['id'], code: line['code'] }));
  expect(told).toContainEqual({ told: id, code: 'CLAIM_LOST' });
  expect(told.filter(({ code }) => code !== 'CLAIM_LOST')).toEqual([]);

  const line = { level: 40, id, type: 'test.writer', claimToken };
  expect(fencedBy('progress')).toMatchObject([{ ...line, lost: '{"by":"a run without a claim"}' }]);
  expect(fencedBy('assert_claim')).toMatchObject([{ ...line, lost: null }]);
  expect(fencedBy('complete')).toMatchObject([{ ...line, lost: null }]);
  const settlements = Object.fromEntries(fencedBy('settle').map((fenced) => [fenced['id'], fenced['lost']]));
  expect(settlements[id]).toContain('what the run failed of');
  expect(settlements[finished]).toContain('"settle":"complete"');
  for (const op of ['progress', 'assert_claim', 'complete', 'settle']) {
    expect(await stopped.metric(`fencepost_fenced_total{op="${op}"}`)).toBe(op === 'settle' ? 2 : 1);
  }

  // Whoever owns it now goes on undisturbed.
  heir.signal('SIGUSR2');
  await waitFor(async () => writesOf(heir).length === 3 && (await table.states())['completed'] === 2);
  expect(writesOf(heir).map(({ code }) => code)).toEqual(['went through', 'went through', 'went through']);
  expect(await table.row(id)).toMatchObject({
    state: 'completed',
    claims: 2,
    progress: { by: 'a run without a claim' },
  });
  expect(await table.row(finished)).toMatchObject({ state: 'completed', claims: 2, result: { by: 2 } });
  await prisma.$disconnect();
  await table.close();
});

function writesOf(worker: WorkerProcess) {
  return worker.said('run wrote').map(({ write, code }) => ({ write, code }));
}
