import type { QueueClient } from '../client.ts';
import { byToken, type Fence, type Unsettled } from './fence.ts';
import { splitUnsettled, type UnsettledRow } from './unsettled.ts';

/**
 * Settles finished runs where nothing is kept, running → gone: complete.ts with a DELETE in the place of its UPDATE,
 * which writes no new row and no index entries, and leaves nothing to the cleanup. For a batch; a handler's transaction
 * has delete-claimed.ts. An id may stand in it twice, as in complete.ts.
 */
export async function completeAndDelete(
  client: QueueClient,
  completions: readonly Fence[],
): Promise<Unsettled> {
  if (completions.length === 0) return { lost: [], locked: [] };
  const { tokens, ids } = byToken(completions);

  const unsettled = await client.$queryRaw<UnsettledRow[]>`
    WITH "asked" AS MATERIALIZED (
      SELECT claim."claimToken", unnest(claim."ids"::uuid[]) AS "id"
      FROM unnest(${tokens}::uuid[], ${ids}::text[]) AS claim("claimToken", "ids")
    ),
    "held" AS MATERIALIZED (
      SELECT "id", "claimToken"
      FROM "job_queue"
      WHERE "id" = ANY (ARRAY(SELECT "id" FROM "asked"))
        -- Each row against its own token, behind IS TRUE: see complete.ts.
        AND (
          "state" = 'running'
          AND ("id", "claimToken") IN (SELECT "id", "claimToken" FROM "asked")
        ) IS TRUE
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
      asked."id"::text AS "id",
      asked."claimToken"::text AS "claimToken",
      -- See complete.ts. A row that was not there has none, like any other whose claim is gone.
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = asked."id"
      ) AS "tokenSeen"
    FROM "asked"
    -- Looked through only where fewer were deleted than were asked for; and by looking up, not by joins, which take
    -- 20 ms more where one of a thousand is missing.
    WHERE (SELECT count(*) FROM "deleted") < (SELECT count(*) FROM "asked")
      AND (asked."id", asked."claimToken") NOT IN (
        SELECT held."id", held."claimToken"
        FROM "held"
        WHERE (held."id" IN (SELECT "id" FROM "deleted")) IS TRUE
      )`;
  return splitUnsettled(unsettled);
}
