/** What the renewer makes of what it is told, without the ticks of a keeper beside it. */
import { createPrisma } from '@fencepost/db';
import { defineJob, enqueue } from '@fencepost/queue';
import { claimJobs, type ClaimedJob } from '@fencepost/queue/protocol';
import { waitFor } from '@fencepost/testing';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../src/clock.ts';
import { joinUuids, type ClaimedIds, type FromRenewer, type KeptLeases } from '../src/lease-messages.ts';
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
    ...claimOf(jobs),
  };
}

/** Of jobs that one claim has taken. */
function claimOf(jobs: readonly ClaimedJob[]): ClaimedIds {
  return { claimToken: jobs[0]!.claimToken, ids: joinUuids(jobs.map(({ id }) => id)) };
}

function startRenewer() {
  const told: FromRenewer[] = [];
  const renewer = new LeaseRenewer({
    client: prisma,
    clock: systemClock,
    tell: (said) => void told.push(said),
  });
  const renewed = () =>
    told.flatMap((said) => (said.say === 'renewed' ? said.renewals : [])).map(({ id }) => id);
  return { renewer, renewed };
}

test('when it is to renew at once, that is also what it was told a moment ago', async () => {
  const { renewer, renewed } = startRenewer();
  const jobs = await claimSome(2);
  renewer.hear({ say: 'claimed', leases: [leasesOf(jobs)] });
  renewer.hear({ say: 'renew now' });
  await waitFor(() => renewed().length > 0);
  expect(renewed().toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
});

test('what is held no longer is forgotten, whether it was looked into or not', async () => {
  const { renewer, renewed } = startRenewer();
  const [looked, unread, whole, wholeUnread] = [
    await claimSome(2),
    await claimSome(2),
    await claimSome(1),
    await claimSome(1),
  ];
  renewer.hear({ say: 'claimed', leases: [leasesOf(looked), leasesOf(whole)] });
  renewer.hear({ say: 'held', claims: [claimOf(looked), claimOf(whole)] });
  renewer.hear({ say: 'claimed', leases: [leasesOf(unread), leasesOf(wholeUnread)] });
  renewer.hear({ say: 'held', claims: [claimOf(looked.slice(1)), claimOf(unread.slice(1))] });
  renewer.hear({ say: 'renew now' });
  await waitFor(() => renewed().length > 0);
  expect(renewed().toSorted()).toEqual([looked[1]!.id, unread[1]!.id].toSorted());
});
