/** A claim looks at what is due twice, to deal and to take: what is for later stays, also beside jobs that are due. */
import { expect, test } from 'vitest';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, enqueueJobs, newContract } from './fixtures/jobs.ts';

const { prisma, lock } = await openDatabase();

const idsOf = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

test('where a due job is locked, one for later does not take its place', async () => {
  const contract = newContract();
  const [held = '', free = ''] = await enqueueJobs(prisma, contract, 2);
  await enqueueJobs(prisma, contract, 2, { delay: '1h' });
  const release = await lock(held);
  expect(idsOf(await claimOf(prisma, contract))).toEqual([free]);
  await release();
  expect(idsOf(await claimOf(prisma, contract))).toEqual([held]);
});
