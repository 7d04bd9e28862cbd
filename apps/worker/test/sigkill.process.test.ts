/** A worker killed in the middle of a run: another finishes the job, within lease, grace and one sweep. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFaults } from './fixtures/claim-history.ts';
import { testContracts } from './fixtures/contracts.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { spawnWorker } from './fixtures/spawn-worker.ts';

const LEASE_MS = 2_000;
const GRACE_MS = 2_000;
const SWEEP_MS = 500;
/** What the deadline cannot count: how late a busy machine is with a statement, a renewal, a start. */
const SLACK_MS = 4_000;

const contracts = { lease: '2s' } as const;
let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

test('its job is taken up by another worker, with the crash on the row', async () => {
  const settings = { url: table.url, contracts, sweepIntervalMs: SWEEP_MS };
  const victim = await spawnWorker(settings);
  const { effect } = testContracts(contracts);
  const { id } = await enqueue(prisma, effect, { ms: 60_000 });
  await victim.waitForLine((line) => line['msg'] === 'run began');
  const { claimedBy } = await table.row(id);

  const heir = await spawnWorker(settings);
  // Killed when it has renewed, so that the row is as far from its end as it gets.
  await waitFor(async () => {
    const { lockUntil, claimedAt } = await table.row(id);
    return Number(lockUntil) - Number(claimedAt) > LEASE_MS + 500;
  });
  // The next run is a short one.
  await table.query(`UPDATE job_queue SET payload = '{}' WHERE id = $1`, [id]);
  victim.signal('SIGKILL');
  const killedAt = performance.now();
  await waitFor(async () => (await table.row(id)).state === 'completed', { timeout: 30_000 });
  const took = performance.now() - killedAt;
  await victim.exited;

  expect(took).toBeGreaterThan(GRACE_MS);
  // The interval is jittered by a quarter.
  expect(took).toBeLessThan(LEASE_MS + GRACE_MS + 1.25 * SWEEP_MS + SLACK_MS);
  const job = await table.row(id);
  expect(job).toMatchObject({
    attempts: 2,
    claims: 2,
    crashes: 1,
    errors: [{ attempt: 1, kind: 'crashed', worker: claimedBy, stack: null }],
  });
  expect(job.claimedBy).not.toBe(claimedBy);
  expect(heir.said('job reclaimed: the lease of its worker ran out')).toMatchObject([
    { id, state: 'pending', claimedBy, attempts: 1, crashes: 1 },
  ]);
  expect(await heir.metric('fencepost_reclaimed_total{type="test.effect",state="pending"}')).toBe(1);
  expect(await findFaults(table)).toEqual([]);
});

test('a job that kills its workers is dead long before its attempts are used up', async () => {
  await table.query('TRUNCATE job_queue, test_history, test_effect');
  const { endless } = testContracts({ ...contracts, maxCrashes: 2 });
  const { id } = await enqueue(prisma, endless, {});
  for (let crash = 1; crash <= 2; crash++) {
    const victim = await spawnWorker({ url: table.url, contracts, sweepIntervalMs: SWEEP_MS });
    await victim.waitForLine((line) => line['msg'] === 'run began', { timeout: 30_000 });
    victim.signal('SIGKILL');
    await victim.exited;
  }
  await spawnWorker({ url: table.url, contracts, sweepIntervalMs: SWEEP_MS });
  await waitFor(async () => (await table.row(id)).state === 'dead', { timeout: 30_000 });
  expect(await table.row(id)).toMatchObject({
    ...{ attempts: 2, claims: 2, crashes: 2 },
    errors: [
      { attempt: 1, kind: 'crashed' },
      { attempt: 2, kind: 'crashed' },
    ],
  });
});
