import type { QueueClient } from '../client.ts';
import { spellFences, type Fence, type Unsettled } from './fence.ts';
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
  const { ids, tokens } = spellFences(completions);

  const unsettled = await client.$queryRaw<UnsettledRow[]>`
    WITH "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ANY (${ids}::uuid[])
        -- As text, and each row against its own token: see complete.ts.
        AND "state"::text = 'running'
        AND "claimToken"::text = ${tokens}::jsonb ->> "id"::text
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
      -- See complete.ts. A row that was not there has none, like any other whose claim is gone.
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = asked."id"
      ) AS "tokenSeen"
    FROM (SELECT unnest(${ids}::uuid[]) EXCEPT SELECT "id" FROM "deleted") AS asked("id")`;
  return splitUnsettled(completions, unsettled);
}
