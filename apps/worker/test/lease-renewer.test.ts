/** What the renewer makes of what it is told, without the ticks of a keeper beside it. */
import { createPrisma } from '@fencepost/db';
import { defineJob, enqueue } from '@fencepost/queue';
import { claimJobs, type ClaimedJob } from '@fencepost/queue/protocol';
import { waitFor } from '@fencepost/testing';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../src/clock.ts';
import { joinUuids, type FromRenewer, type KeptLeases } from '../src/lease-messages.ts';
import { LeaseRenewer } from '../src/lease-renewer.ts';
import { createJobTable } from './fixtures/job-table.ts';

// Its own renewal is twenty minutes away.
const contract = defineJob({ type: 'test.renewer', payload: z.object({}), lease: '1h' });

const table = await createJobTable();
const prisma = createPrisma(table.url);
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

async function claimSome(count: number): Promise<ClaimedJob[]> {
  for (let n = 0; n < count; n++) await enqueue(prisma, contract, {});
  return claimJobs(prisma, {
    workerId: 'test',
    wanted: [{ ...contract, slots: count }],
    capacity: count,
  });
}

function leasesOf(jobs: readonly ClaimedJob[]): KeptLeases {
  const claimAskedAt = systemClock.now();
  return {
    ...{ leaseMs: contract.leaseMs, claimAskedAt, timeoutAt: claimAskedAt + contract.timeoutMs },
    ids: joinUuids(jobs.map(({ id }) => id)),
    claimTokens: tokensOf(jobs),
  };
}

const tokensOf = (jobs: readonly ClaimedJob[]) => joinUuids(jobs.map(({ claimToken }) => claimToken));

function startRenewer() {
  const told: FromRenewer[] = [];
  const renewer = new LeaseRenewer({
    client: prisma,
    clock: systemClock,
    tell: (said) => void told.push(said),
  });
  const renewed = () =>
    told.flatMap((said) => (said.say === 'renewed' ? said.renewals : [])).map(({ claimToken }) => claimToken);
  return { renewer, renewed };
}

test('when it is to renew at once, that is also what it was told a moment ago', async () => {
  const { renewer, renewed } = startRenewer();
  const jobs = await claimSome(2);
  renewer.hear({ say: 'claimed', leases: [leasesOf(jobs)] });
  renewer.hear({ say: 'renew now' });
  await waitFor(() => renewed().length > 0);
  expect(joinUuids(renewed().toSorted())).toBe(
    joinUuids(jobs.map(({ claimToken }) => claimToken).toSorted()),
  );
});

test('what is held no longer is forgotten, whether it was looked into or not', async () => {
  const { renewer, renewed } = startRenewer();
  const [first, second, third, fourth] = await claimSome(4);
  renewer.hear({ say: 'claimed', leases: [leasesOf([first!, second!])] });
  renewer.hear({ say: 'held', claimTokens: tokensOf([first!, second!]) });
  renewer.hear({ say: 'claimed', leases: [leasesOf([third!, fourth!])] });
  renewer.hear({ say: 'held', claimTokens: tokensOf([second!, fourth!]) });
  renewer.hear({ say: 'renew now' });
  await waitFor(() => renewed().length > 0);
  expect(renewed().toSorted()).toEqual([second!.claimToken, fourth!.claimToken].toSorted());
});
