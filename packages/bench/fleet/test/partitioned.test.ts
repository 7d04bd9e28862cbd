/**
 * The production statements on a table that is partitioned by hash: by type all of them work; by id no enqueue with a
 * dedupe key does, because no index keeps those apart.
 */
import { createPgClient, createPrisma } from '@fencepost/db';
import { defineJob, enqueue, findJob, type JobContract } from '@fencepost/queue';
import {
  claimJobs,
  deleteFinished,
  findHeads,
  reclaimJobs,
  renewLeases,
  settleRuns,
} from '@fencepost/queue/protocol';
import { createTestDatabase } from '@fencepost/testing';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { partitionTable } from '../store/partition-table.ts';

const CONTRACTS = Array.from({ length: 6 }, (_, n) =>
  defineJob({ type: `partitioned.${n}`, payload: z.object({ n: z.int() }), lease: '1s' }),
);
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

async function partitioned(by: 'type' | 'id') {
  const { url } = await createTestDatabase();
  const session = createPgClient(url, { applicationName: 'test', onError: () => {} });
  await session.connect();
  await session.query(partitionTable({ by, partitions: 4 }));
  const prisma = createPrisma(url);
  closing.push(
    () => prisma.$disconnect(),
    () => session.end(),
  );
  return { prisma, session };
}

function claim(prisma: ReturnType<typeof createPrisma>, capacity: number) {
  const wanted = CONTRACTS.map((contract: JobContract) => ({ ...contract, slots: capacity }));
  return claimJobs(prisma, { workerId: 'test', wanted, capacity });
}

it('passes jobs through a table that is partitioned by type', async () => {
  const { prisma, session } = await partitioned('type');
  const enqueued = await Promise.all(CONTRACTS.map((contract) => enqueue(prisma, contract, { n: 1 })));
  const { rows } = await session.query('SELECT DISTINCT tableoid FROM "job_queue"');
  expect(rows.length).toBeGreaterThan(1);

  const { dueInMs, passed } = await findHeads(prisma, [CONTRACTS[0]!.type]);
  expect(dueInMs).toBeLessThanOrEqual(0);
  // Postgres counts by partition what a survey looks at: it sees not even the entry that it has found.
  expect(passed).toBeLessThan(0);
  const claimed = await claim(prisma, 10);
  expect(claimed.map(({ id }) => id).toSorted()).toEqual(enqueued.map(({ id }) => id).toSorted());

  const renewals = await renewLeases(
    prisma,
    claimed.map((job) => ({ ...job, leaseMs: 1_000 })),
  );
  expect(new Set(renewals.map(({ renewal }) => renewal))).toEqual(new Set(['renewed']));

  const [lost, ...done] = claimed;
  const settlement = { settle: 'complete', result: null } as const;
  await settleRuns(
    prisma,
    done.map((job) => ({ ...job, settlement, completing: false })),
  );
  await session.query(
    `UPDATE "job_queue" SET "lockUntil" = now() - interval '1 minute' WHERE "state" = 'running'`,
  );
  expect(await reclaimJobs(prisma, 10)).toMatchObject([{ id: lost!.id, state: 'pending' }]);
  expect(await findJob(prisma, done[0]!.id)).toMatchObject({ state: 'completed' });
  expect(await deleteFinished(prisma, 0, 100)).toBe(done.length);
});

it('keeps dedupe keys apart by type', async () => {
  const { prisma } = await partitioned('type');
  const send = (contract: (typeof CONTRACTS)[number]) =>
    enqueue(prisma, contract, { n: 1 }, { dedupeKey: 'once' });

  expect(await send(CONTRACTS[0]!)).toMatchObject({ outcome: 'created' });
  expect(await send(CONTRACTS[0]!)).toMatchObject({ outcome: 'deduplicated' });
  expect(await send(CONTRACTS[1]!)).toMatchObject({ outcome: 'created' });
});

it('wakes workers through the trigger of the partitioned table', async () => {
  const { prisma, session } = await partitioned('type');
  const heard = new Promise((resolve) => session.once('notification', resolve));
  await session.query('LISTEN job_queue');
  await enqueue(prisma, CONTRACTS[0]!, { n: 1 });

  await expect(heard).resolves.toMatchObject({ channel: 'job_queue' });
});

it('cannot have a foreign key to the id alone', async () => {
  const { session } = await partitioned('type');

  await expect(
    session.query('CREATE TABLE "mine" ("jobId" uuid REFERENCES "job_queue" ("id"))'),
  ).rejects.toMatchObject({ code: '42830' });
});

it('cannot keep dedupe keys apart in a table that is partitioned by id', async () => {
  const { prisma } = await partitioned('id');

  await expect(enqueue(prisma, CONTRACTS[0]!, { n: 1 })).resolves.toMatchObject({ outcome: 'created' });
  const keyed = enqueue(prisma, CONTRACTS[0]!, { n: 1 }, { dedupeKey: 'k' });
  await expect(keyed).rejects.toThrow(/ON CONFLICT|42P10/);
});
