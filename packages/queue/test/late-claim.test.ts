/** A worker gives its claim up after ten seconds. What the server would claim later, nobody would run. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { enqueue } from '../src/index.ts';
import { claimJobs } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { newContract } from './fixtures/jobs.ts';

const { prisma } = await openDatabase();

test('a claim that takes more than eight seconds takes nothing', async () => {
  const contract = newContract();
  const { id } = await enqueue(prisma, contract, 1);
  const request = { workerId: 'w', wanted: [{ ...contract, slots: 1 }], capacity: 1 };
  const late = prisma.$transaction(
    async (tx) => {
      // now() is when the transaction began, as it is when a claim begins that takes so long.
      await tx.$queryRaw`SELECT 1`;
      await delay(8_100);
      return claimJobs(tx, request);
    },
    { timeout: 20_000 },
  );
  expect(await late).toEqual([]);
  expect(await claimJobs(prisma, request)).toMatchObject([{ id, claims: 1 }]);
});
