import type { QueueClient } from '../client.ts';
import { fencedWhere, type Fence } from './fence.ts';

/**
 * `ctx.complete(tx)` where nothing is kept: running → gone, when the handler's transaction commits. Waits for whoever
 * has the row locked, as hold.ts does and no batch may: a handler has nothing else to do. False if this claim no longer
 * owns the row.
 */
export async function deleteClaimed(tx: QueueClient, fence: Fence): Promise<boolean> {
  const { id, claimToken } = fencedWhere(fence);
  const deleted = await tx.$executeRaw`
    DELETE FROM "job_queue"
    WHERE "id" = ${id}::uuid
      AND "claimToken" = ${claimToken}::uuid
      -- As text: see complete.ts.
      AND "state"::text = 'running'`;
  return deleted === 1;
}
