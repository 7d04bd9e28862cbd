/** Renews every claim of a worker. */
import type { QueueClient } from './client.ts';
import { withoutRepeats } from './store/fence.ts';
import { renewClaims, type Lease, type Renewal } from './store/renew.ts';

/**
 * One statement, but where a worker holds a row under two tokens, having lost and claimed it again: then one for each.
 * What the database said of every lease, in no order.
 */
export async function renewLeases(
  client: Pick<QueueClient, '$queryRaw'>,
  leases: readonly Lease[],
): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (const batch of withoutRepeats(leases)) renewals.push(...(await renewClaims(client, batch)));
  return renewals;
}
