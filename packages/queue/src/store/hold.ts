import type { QueueClient } from '../client.ts';
import { fencedWhere, type Fence } from './fence.ts';

/**
 * Locks the row of a claim to the end of the transaction, by writing its token over itself: a lock that the sweep, the
 * renewal and everybody else passes by. False if this claim no longer owns the row.
 */
export async function holdClaim(tx: QueueClient, fence: Fence): Promise<boolean> {
  const { count } = await tx.jobQueue.updateMany({
    where: fencedWhere(fence),
    data: { claimToken: fence.claimToken },
  });
  return count === 1;
}
