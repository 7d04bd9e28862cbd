/** Jobs of many tenants over two databases, by the public API alone: a client and a worker for each. */
import { createPgClient, createPrisma } from '@fencepost/db';
import { countJobs, enqueue, handle } from '@fencepost/queue';
import { createMetrics, createWorker, startLeaseThread } from '@fencepost/worker';
import { createTestDatabase, waitFor } from '@fencepost/testing';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { wait } from '../contracts.ts';
import { databaseOf } from '../tenants.ts';

const TENANTS = 20;
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

async function openDatabase(ran: string[]) {
  const { url } = await createTestDatabase();
  const prisma = createPrisma(url);
  const worker = createWorker({
    prisma,
    renewal: () => startLeaseThread(url),
    handlers: [handle(wait, async ({ tenant }) => void ran.push(tenant))],
    concurrency: 10,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    workerId: 'test',
    listen: (onError) => createPgClient(url, { applicationName: 'test', onError }),
    ...{ pollIntervalMs: 5_000, sweepIntervalMs: 10_000, retentionMs: 60_000 },
  });
  closing.push(async () => {
    await worker.drain({ timeoutMs: 0 });
    await prisma.$disconnect();
  });
  worker.start();
  return { prisma, ran };
}

it('runs the jobs of every tenant once, and in its database', async () => {
  const databases = [await openDatabase([]), await openDatabase([])];
  const tenants = Array.from({ length: TENANTS }, (_, n) => `tenant-${n}`);
  for (const tenant of tenants) {
    const { prisma } = databases[databaseOf(tenant, databases.length)]!;
    await prisma.$transaction((tx) => enqueue(tx, wait, { ms: 0, tenant }));
  }

  await waitFor(() => databases.flatMap(({ ran }) => ran).length === TENANTS);
  for (const [nth, { prisma, ran }] of databases.entries()) {
    const own = tenants.filter((tenant) => databaseOf(tenant, databases.length) === nth);
    expect(own.length).toBeGreaterThan(0);
    expect(ran.toSorted()).toEqual(own.toSorted());
    await waitFor(async () =>
      (await countJobs(prisma)).every(({ state, count }) => state === 'completed' && count === own.length),
    );
  }
});

it('puts a tenant into the same database for ever', () => {
  expect(['a', 'b', 'c', 'acme'].map((tenant) => databaseOf(tenant, 8))).toMatchInlineSnapshot(`
    [
      2,
      6,
      3,
      5,
    ]
  `);
});
