/**
 * Every statement that matters, on 200,000 finished, 200,000 future and 20,000 due rows, one row at a time and five
 * hundred, with a plan made for its values and with one made for any: it reads the table through the index that was
 * made for it, although the statistics say that no row is running.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { QueueClient } from '../src/client.ts';
import { cancel, enqueueMany, findJob, retry } from '../src/index.ts';
import {
  claimJobs,
  deleteFinished,
  findHeads,
  reclaimJobs,
  renewLeases,
  settleRuns,
  type ClaimedJob,
  type Heads,
  type SettledRun,
} from '../src/protocol.ts';
import { deleteClaimed } from '../src/store/delete-claimed.ts';
import { writeProgress } from '../src/store/progress.ts';
import { openDatabase } from './fixtures/database.ts';
import { complete, endLease, failed, fenceOf, newContract, only, wantedOf } from './fixtures/jobs.ts';
import { buffersOf, explaining, isCompiled, readsOf, type PlanMode } from './fixtures/plans.ts';

const database = await openDatabase();
const { prisma, connect } = database;
const admin = await connect();

const TYPES = 10;
const contracts = Array.from({ length: TYPES }, (_, n) => newContract({ type: `type.${n}` }));

const claim = (client: QueueClient, capacity: number, from?: Heads) =>
  claimJobs(client, {
    workerId: 'w',
    wanted: contracts.map((contract) => wantedOf(contract, 500)),
    capacity,
    from,
  });

const fill = {
  due: `
    INSERT INTO job_queue (type, payload, priority, "runAt")
    SELECT 'type.' || i % 10, '{"n": 1}', i / 10 % 4, now() - i * interval '1 ms'
    FROM generate_series(1, 20000) AS i`,
  finished: `
    INSERT INTO job_queue (type, payload, state, "finishedAt", "dedupeKey")
    SELECT 'type.' || i % 10, '{"n": 1}', (ARRAY['completed', 'cancelled', 'dead'])[1 + i % 3]::"JobState",
      now() - i * interval '1 s', i
    FROM generate_series(1, 200000) AS i`,
  future: `
    INSERT INTO job_queue (type, payload, priority, "runAt", "dedupeKey")
    SELECT 'type.' || i % 10, '{"n": 1}', i / 10 % 4, now() + interval '1 hour' + i * interval '1 s', 'later ' || i
    FROM generate_series(1, 200000) AS i`,
};

async function add(rows: keyof typeof fill): Promise<void> {
  await admin.query(fill[rows]);
  await admin.query('VACUUM ANALYZE job_queue');
}

async function buffersOfClaim(capacity: number): Promise<number> {
  const { client, plans } = await explaining(database, 'force_custom_plan', { run: false });
  await claim(client, capacity);
  return buffersOf(only(plans()));
}

const pages: Record<number, number[]> = { 1: [], 500: [] };

beforeAll(async () => {
  for (const rows of ['due', 'finished', 'future'] as const) {
    await add(rows);
    for (const capacity of [1, 500]) pages[capacity]?.push(await buffersOfClaim(capacity));
  }
}, 120_000);

test.each([1, 500])('a claim of %d touches as many pages as without 400,000 other rows', (capacity) => {
  const [small = 0, finished = 0, all = 0] = pages[capacity] ?? [];
  expect(small).toBeGreaterThan(0);
  // For each row a few pages more, because the indexes are a level deeper by then.
  const most = small + 8 * capacity + 50;
  expect(finished).toBeLessThan(most);
  expect(all).toBeLessThan(most);
});

test('a claim of a type with few due jobs of a lesser level does not look at its jobs for later', async () => {
  const contract = newContract();
  await admin.query(
    `INSERT INTO job_queue (type, priority, "runAt")
     SELECT $1, 0, now() + interval '1 hour' FROM generate_series(1, 20000)
     UNION ALL
     SELECT $1, 3, now() FROM generate_series(1, 3)`,
    [contract.type],
  );
  const { client, plans } = await explaining(database, 'force_custom_plan');
  const request = { workerId: 'w', wanted: [wantedOf(contract, 100)], capacity: 100 };
  expect(await claimJobs(client, request)).toHaveLength(3);
  expect((await findHeads(client, [contract.type])).dueInMs).toBeGreaterThan(0);
  const [claiming, nextDue] = plans().map(buffersOf);
  expect(claiming).toBeLessThan(100);
  expect(nextDue).toBeLessThan(30);
});

describe.each<PlanMode>(['force_custom_plan', 'force_generic_plan'])('%s', (mode) => {
  const PRIMARY = 'job_queue_pkey';

  async function pathsOf(rows: number, send: (client: QueueClient) => Promise<unknown>): Promise<string[][]> {
    const { client, plans } = await explaining(database, mode);
    await send(client);
    return plans().map((plan) => readsOf(plan, rows));
  }

  test.each([1, 500])('the claim, %d', async (count) => {
    expect(await pathsOf(count * TYPES, (client) => claim(client, count))).toEqual([
      ['job_queue_due', PRIMARY],
    ]);
  });

  test.each([1, 500])('the claim from the heads of the queue, %d', async (count) => {
    const types = contracts.map(({ type }) => type);
    const { heads } = await findHeads(prisma, types);
    expect(await pathsOf(count * TYPES, (client) => claim(client, count, heads))).toEqual([
      ['job_queue_due', PRIMARY],
    ]);
    expect(await pathsOf(4 * TYPES, (client) => findHeads(client, types))).toEqual([['job_queue_due']]);
    expect(await pathsOf(4 * TYPES, (client) => findHeads(client, types, heads))).toEqual([
      ['job_queue_due'],
    ]);
  });

  test.each([1, 500])('renewal and completion, %d', async (count) => {
    const jobs = await claim(prisma, count);
    const leases = jobs.map((job) => ({ ...fenceOf(job), leaseMs: 30_000 }));
    expect(await pathsOf(count, (client) => renewLeases(client, leases))).toEqual([[PRIMARY]]);
    const runs = jobs.map((job) => complete(job));
    expect(await pathsOf(count, (client) => settleRuns(client, oneLost(runs)))).toEqual([[PRIMARY]]);
    expect(await pathsOf(count, (client) => settleRuns(client, runs))).toEqual([[PRIMARY]]);
    // Now each of them is lost, and was completed by its own claim.
    expect(await pathsOf(count, (client) => renewLeases(client, leases))).toEqual([[PRIMARY]]);
    expect(await pathsOf(count, (client) => settleRuns(client, runs))).toEqual([[PRIMARY]]);
    const again = runs.map((run) => ({ ...run, completing: true }));
    expect(await pathsOf(count, (client) => settleRuns(client, again))).toEqual([[PRIMARY]]);
  });

  test.each([1, 500])('completion that keeps nothing, %d', async (count) => {
    const nothing = { keepCompleted: false };
    const runs = (await claim(prisma, count)).map((job) => complete(job));
    expect(await pathsOf(count, (client) => settleRuns(client, oneLost(runs), nothing))).toEqual([[PRIMARY]]);
    expect(await pathsOf(count, (client) => settleRuns(client, runs, nothing))).toEqual([[PRIMARY]]);
    // Now each of them is lost: gone, and for all that is known completed by its own claim.
    expect(await pathsOf(count, (client) => settleRuns(client, runs, nothing))).toEqual([[PRIMARY]]);
    const again = runs.map((run) => ({ ...run, completing: true }));
    expect(await pathsOf(count, (client) => settleRuns(client, again, nothing))).toEqual([[PRIMARY]]);
    // And lost to others, whose rows are there.
    const others = (await claim(prisma, count)).map((job) => ({
      ...complete(job),
      claimToken: randomUUID(),
    }));
    expect(await pathsOf(count, (client) => settleRuns(client, others, nothing))).toEqual([[PRIMARY]]);
    const asking = others.map((run) => ({ ...run, completing: true }));
    expect(await pathsOf(count, (client) => settleRuns(client, asking, nothing))).toEqual([
      [PRIMARY],
      [PRIMARY],
    ]);
  });

  // As of jobs that are claimed one by one and run for long.
  test('a thousand claims of one job each: renewed, failed, completed, and completed without a trace', async () => {
    const ways: ((client: QueueClient, jobs: ClaimedJob[]) => Promise<unknown>)[] = [
      (client, jobs) =>
        renewLeases(
          client,
          jobs.map((job) => ({ ...fenceOf(job), leaseMs: 30_000 })),
        ),
      (client, jobs) =>
        settleRuns(
          client,
          jobs.map((job) => failed(job)),
        ),
      (client, jobs) =>
        settleRuns(
          client,
          jobs.map((job) => complete(job)),
        ),
      (client, jobs) =>
        settleRuns(
          client,
          jobs.map((job) => complete(job)),
          { keepCompleted: false },
        ),
    ];
    for (const way of ways) {
      const jobs = await withTokensOfTheirOwn(await claim(prisma, 1_000));
      const { client, plans } = await explaining(database, mode);
      await way(client, jobs);
      const made = plans();
      expect(made.map((plan) => readsOf(plan, 1_000))).toEqual([[PRIMARY]]);
      expect(made.map(isCompiled)).toEqual([false]);
      await settleRuns(
        prisma,
        jobs.map((job) => complete(job)),
      );
    }
  });

  test('completion that keeps nothing, in a handler’s transaction', async () => {
    const job = only(await claim(prisma, 1));
    expect(await pathsOf(1, (client) => deleteClaimed(client, job))).toEqual([[PRIMARY]]);
  });

  test.each([1, 500])('failure, %d', async (count) => {
    const runs = (await claim(prisma, count)).map((job) => failed(job));
    expect(await pathsOf(count, (client) => settleRuns(client, oneLost(runs)))).toEqual([[PRIMARY]]);
    expect(await pathsOf(count, (client) => settleRuns(client, runs))).toEqual([[PRIMARY]]);
    expect(await pathsOf(count, (client) => settleRuns(client, runs))).toEqual([[PRIMARY]]);
  });

  test.each([1, 500])('the sweep, %d', async (count) => {
    const jobs = await claim(prisma, count);
    await endLease(
      prisma,
      jobs.map(({ id }) => id),
    );
    expect(await pathsOf(count, (client) => reclaimJobs(client, 500))).toEqual([
      ['job_queue_lease', PRIMARY],
    ]);
  });

  test('progress', async () => {
    const job = only(await claim(prisma, 1));
    expect(await pathsOf(1, (client) => writeProgress(client, job, '{"n":1}'))).toEqual([[PRIMARY]]);
    await settleRuns(prisma, [complete(job)]);
  });

  test.each([1, 500])('the cleanup, %d', async (count) => {
    expect(await pathsOf(count, (client) => deleteFinished(client, 1_000, count))).toEqual([
      ['job_queue_finished', PRIMARY],
    ]);
  });

  test('enqueue, of which half are duplicates', async () => {
    const items = Array.from({ length: 500 }, (_, n) => ({
      payload: n,
      // Every tenth of the future rows is of the type.
      dedupeKey: n % 2 ? `later ${10 * n + 10}` : `${mode} ${n}`,
    }));
    const send = async (client: QueueClient) => {
      const outcomes = await enqueueMany(client, newContract({ type: 'type.0' }), items);
      expect(outcomes.filter(({ outcome }) => outcome === 'deduplicated')).toHaveLength(250);
    };
    expect(await pathsOf(500, send)).toEqual([['job_queue_dedupe'], ['job_queue_dedupe']]);
  });

  test('what a person or a web app asks of one job', async () => {
    const { id } = await prisma.jobQueue.findFirstOrThrow({
      where: { state: 'pending', dedupeKey: { not: null } },
    });
    expect(await pathsOf(1, (client) => findJob(client, id))).toEqual([[PRIMARY]]);
    expect(await pathsOf(1, (client) => cancel(client, id))).toEqual([[PRIMARY]]);
    expect(await pathsOf(1, (client) => retry(client, id))).toEqual([['job_queue_dedupe', PRIMARY]]);
  });
});

async function withTokensOfTheirOwn(jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
  const own = jobs.map((job) => ({ ...job, claimToken: randomUUID() }));
  await admin.query(
    `UPDATE job_queue SET "claimToken" = own.token
     FROM unnest($1::uuid[], $2::uuid[]) AS own(id, token)
     WHERE job_queue.id = own.id`,
    [own.map(({ id }) => id), own.map(({ claimToken }) => claimToken)],
  );
  return own;
}

/** The claim of the first of them is gone. */
function oneLost(runs: readonly SettledRun[]): SettledRun[] {
  return runs.map((run, n) => (n === 0 ? { ...run, claimToken: randomUUID() } : run));
}

test('a claim is not compiled, however many jobs are due', async () => {
  await admin.query(
    `INSERT INTO job_queue (type, "runAt") SELECT 'type.0', now() FROM generate_series(1, 500000)`,
  );
  await admin.query('ANALYZE job_queue');
  for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
    const { client, plans } = await explaining(database, mode, { run: false });
    await claim(client, 500);
    expect(plans().map(isCompiled)).toEqual([false]);
  }
}, 60_000);
