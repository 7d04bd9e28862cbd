import type { QueueClient } from '../client.ts';
import { tokensById, type Fence, type Unsettled } from './fence.ts';
import { splitUnsettled, type UnsettledRow } from './unsettled.ts';

/**
 * Settles finished runs where nothing is kept, running → gone: complete.ts with a DELETE in the place of its UPDATE,
 * which writes no new row and no index entries, and leaves nothing to the cleanup. For a batch; a handler's transaction
 * has delete-claimed.ts. No id may stand in `completions` twice.
 */
export async function completeAndDelete(
  client: QueueClient,
  completions: readonly Fence[],
): Promise<Unsettled> {
  if (completions.length === 0) return { lost: [], locked: [] };
  const tokens = tokensById(completions);

  const unsettled = await client.$queryRaw<UnsettledRow[]>`
    WITH "asked" AS MATERIALIZED (
      -- See complete.ts.
      SELECT "tokens", ARRAY(SELECT jsonb_object_keys("tokens")::uuid) AS "ids"
      FROM (SELECT ${tokens}::jsonb AS "tokens") AS pairs
    ),
    "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ANY ((SELECT "ids" FROM "asked")::uuid[])
        -- As text, and each row against its own token: see complete.ts.
        AND "state"::text = 'running'
        AND "claimToken"::text = (SELECT "tokens" FROM "asked") ->> "id"::text
      ORDER BY "id"
      -- The lock of a DELETE, and not the lesser one of the other settlements: a transaction that has just inserted a
      -- row which refers to the job keeps it from being deleted, and would be waited for.
      FOR UPDATE SKIP LOCKED
    ),
    "deleted" AS (
      DELETE FROM "job_queue" AS job
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING job."id"
    )
    SELECT
      unsettled."id"::text AS "id",
      -- See complete.ts. A row that was not there has none, like any other whose claim is gone.
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = unsettled."id"
      ) AS "tokenSeen"
    FROM (SELECT unnest("ids") FROM "asked" EXCEPT SELECT "id" FROM "deleted") AS unsettled("id")`;
  return splitUnsettled(completions, unsettled);
}
