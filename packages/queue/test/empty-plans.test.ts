/**
 * A plan that a worker's connection made while the table was empty, and keeps, reads the table through the index that
 * was made for it once the table is full: until vacuum or analyze come by, nothing tells the connection to plan anew.
 */
import { randomUUID } from 'node:crypto';
import { createPrisma } from '@fencepost/db';
import { beforeAll, expect, test } from 'vitest';
import type { QueueClient } from '../src/client.ts';
import {
  claimJobs,
  deleteFinished,
  findHeads,
  reclaimJobs,
  renewLeases,
  settleRuns,
} from '../src/protocol.ts';
import { selectBacklog } from '../src/store/backlog.ts';
import { writeProgress } from '../src/store/progress.ts';
import { openDatabase } from './fixtures/database.ts';
import { complete, endLease, failed, fenceOf, newContract, wantedOf } from './fixtures/jobs.ts';
import { explaining, readsOf, type Explaining } from './fixtures/plans.ts';

const PRIMARY = 'job_queue_pkey';
const NOTHING_KEPT = { keepCompleted: false };

const database = await openDatabase();
const { prisma, connect } = database;
const admin = await connect();
const contract = newContract({ type: 'type.0' });
const other = newContract({ type: 'type.1' });

const claim = (client: QueueClient) =>
  claimJobs(client, { workerId: 'w', wanted: [wantedOf(contract, 500)], capacity: 500 });

const claimOfTwo = (client: QueueClient) =>
  claimJobs(client, {
    workerId: 'w',
    wanted: [contract, other].map((some) => wantedOf(some, 500)),
    capacity: 500,
  });

let explainer: Explaining;

/** What the worker's pool for the queue's own statements asks of its sessions. */
async function settingsOfQueue(): Promise<Record<string, string>> {
  const queue = createPrisma(database.url, { poolSize: 1, fixedPlans: true });
  const rows = await queue.$queryRaw<{ name: string; setting: string }[]>`
    SELECT name, setting
    FROM pg_settings
    WHERE source = 'session' AND category ILIKE 'Query Tuning%'`;
  await queue.$disconnect();
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

/** Each statement once, of jobs that are not there. */
async function sendAll(client: QueueClient): Promise<void> {
  const nobody = { id: randomUUID(), claimToken: randomUUID(), claims: 1 };
  await claim(client);
  await selectBacklog(client);
  await findHeads(client, [contract.type]);
  await renewLeases(client, [{ ...nobody, leaseMs: 30_000 }]);
  for (const options of [{ keepCompleted: true }, NOTHING_KEPT]) {
    await settleRuns(client, [complete(nobody)], options);
    await settleRuns(client, [{ ...complete(nobody), completing: true }], options);
  }
  await settleRuns(client, [failed(nobody)]);
  await writeProgress(client, nobody, '{}');
  await reclaimJobs(client, 500);
  await deleteFinished(client, 1_000, 500);
}

beforeAll(async () => {
  await admin.query('ALTER TABLE job_queue SET (autovacuum_enabled = off)');
  await admin.query('VACUUM ANALYZE job_queue');
  explainer = await explaining(database, 'force_generic_plan', {
    keepPlans: true,
    settings: await settingsOfQueue(),
  });
  await sendAll(explainer.client);
  explainer.plans();
  await admin.query(
    `INSERT INTO job_queue (type, priority, "runAt")
     SELECT 'type.' || i % 10, i / 10 % 4, now() - i * interval '1 ms' FROM generate_series(1, 50000) AS i`,
  );
  await admin.query(
    `INSERT INTO job_queue (type, state, "finishedAt")
     SELECT 'type.' || i % 10, 'completed', now() - i * interval '1 s' FROM generate_series(1, 50000) AS i`,
  );
  await admin.query(
    `INSERT INTO job_queue (type, state, "claimToken", "lockUntil", "retryDelayMs")
     SELECT 'type.1', 'running', gen_random_uuid(), now() + interval '1 hour', 0 FROM generate_series(1, 20000)`,
  );
}, 120_000);

async function pathsOf(rows: number, send: (client: QueueClient) => Promise<unknown>): Promise<string[][]> {
  await send(explainer.client);
  return explainer.plans().map((plan) => readsOf(plan, rows));
}

test('the claim, of one type and of more than there is room for, and the look for the heads', async () => {
  expect(await pathsOf(500, claim)).toEqual([['job_queue_due', PRIMARY]]);
  expect(await pathsOf(500, claimOfTwo)).toEqual([['job_queue_due', PRIMARY]]);
  expect(await pathsOf(4, (client) => findHeads(client, [contract.type]))).toEqual([['job_queue_due']]);
});

test('renewal and progress', async () => {
  const jobs = await claim(prisma);
  const leases = jobs.map((job) => ({ ...fenceOf(job), leaseMs: 30_000 }));
  expect(await pathsOf(500, (client) => renewLeases(client, leases))).toEqual([[PRIMARY]]);
  expect(await pathsOf(1, (client) => writeProgress(client, jobs[0]!, '{"n":1}'))).toEqual([[PRIMARY]]);
});

test('settlement', async () => {
  const jobs = await claim(prisma);
  const failures = jobs.slice(0, 100).map((job) => failed(job));
  expect(await pathsOf(100, (client) => settleRuns(client, failures))).toEqual([[PRIMARY]]);

  const kept = jobs.slice(100, 200).map((job) => complete(job));
  const keptAgain = kept.map((run) => ({ ...run, completing: true }));
  expect(await pathsOf(100, (client) => settleRuns(client, kept))).toEqual([[PRIMARY]]);
  expect(await pathsOf(100, (client) => settleRuns(client, keptAgain))).toEqual([[PRIMARY]]);

  const gone = jobs.slice(200, 300).map((job) => complete(job));
  const goneAgain = gone.map((run) => ({ ...run, completing: true }));
  expect(await pathsOf(100, (client) => settleRuns(client, gone, NOTHING_KEPT))).toEqual([[PRIMARY]]);
  expect(await pathsOf(100, (client) => settleRuns(client, goneAgain, NOTHING_KEPT))).toEqual([[PRIMARY]]);
});

test('the sweep and the cleanup', async () => {
  const jobs = await claim(prisma);
  await endLease(
    prisma,
    jobs.map(({ id }) => id),
  );
  expect(await pathsOf(500, (client) => reclaimJobs(client, 500))).toEqual([['job_queue_lease', PRIMARY]]);
  expect(await pathsOf(500, (client) => deleteFinished(client, 1_000, 500))).toEqual([
    ['job_queue_finished', PRIMARY],
  ]);
});

test('the look at the backlog', async () => {
  expect(await pathsOf(50_000, (client) => selectBacklog(client))).toEqual([['job_queue_due']]);
});
