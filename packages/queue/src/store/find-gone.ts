import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/**
 * confirm.ts where nothing is kept: a completion leaves no row to look at, so that a row which is gone counts as
 * completed by the claim that asks.
 *
 * What cannot be told apart then: this claim was lost, and it was another one that completed the job, or ended it and
 * the cleanup or a person has deleted the row since. The run is then logged and counted as a completion, and not as a
 * fenced write. That is all that it changes: what asks has written nothing, a row that is gone is completed by nobody a
 * second time, and the effects of a `ctx.complete(tx)` that had lost its claim were rolled back by the fence. A row that
 * is there was not completed by this claim, whatever its state.
 */
export async function findGone(
  client: QueueClient,
  claims: readonly { readonly id: string }[],
): Promise<Set<string>> {
  if (claims.length === 0) return new Set();
  const ids = claims.map((claim) => claim.id);
  const rows = await onceMore(
    () => client.$queryRaw<{ id: string }[]>`
    SELECT asked."id"::text AS "id"
    FROM (
      SELECT unnest(${ids}::uuid[])
      EXCEPT
      -- Whether it is there, and not what it says: by primary key, whatever the batch.
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ANY (${ids}::uuid[])
    ) AS asked("id")`,
  );
  return new Set(rows.map((row) => row.id));
}
