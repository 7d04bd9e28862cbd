import type { QueueClient } from '../client.ts';
import { spellFences, type Fence, type Unsettled } from './fence.ts';
import { splitUnsettled, type UnsettledRow } from './unsettled.ts';

export interface Completion extends Fence {
  /** JSON that jsonb takes; null for no result. */
  readonly result: string | null;
}

/**
 * Settles finished runs, running → completed: the hot path, apart from the other settlements because it is most of
 * them and needs least. For a batch, and for one row inside a handler's transaction (`ctx.complete`).
 * No id may stand in `completions` twice.
 */
export async function completeJobs(
  client: QueueClient,
  completions: readonly Completion[],
): Promise<Unsettled> {
  if (completions.length === 0) return { lost: [], locked: [] };
  const { ids, tokens } = spellFences(completions);

  const unsettled = await client.$queryRaw<UnsettledRow[]>`
    WITH "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ANY (${ids}::uuid[])
        -- As text, or the index of the leases is read from end to end: every running row of every worker.
        AND "state"::text = 'running'
        -- Each row against its own token. A join to the pairs turned into a scan of the table: 170 ms for 1,000 rows, not 7.
        AND "claimToken"::text = ${tokens}::jsonb ->> "id"::text
      ORDER BY "id"
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "completed" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = 'completed',
        "result" = results."byId" -> job."id"::text,
        "claimToken" = NULL,
        "lockUntil" = NULL,
        "retryDelayMs" = NULL,
        "finishedAt" = now(),
        "updatedAt" = now()
      FROM (SELECT ${resultsById(completions)}::jsonb AS "byId") AS results
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING job."id"
    )
    -- Nothing is returned where everything went well.
    SELECT
      asked."id"::text AS "id",
      -- As the row was when the statement began; only a running row has one. A token that stood then says that the row
      -- is locked, any other that the claim is gone, since no token ever comes back.
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = asked."id"
      ) AS "tokenSeen"
    FROM (SELECT unnest(${ids}::uuid[]) EXCEPT SELECT "id" FROM "completed") AS asked("id")`;
  return splitUnsettled(completions, unsettled);
}

/** Spelled by hand, because the results are JSON already. */
function resultsById(completions: readonly Completion[]): string {
  const entries: string[] = [];
  for (const { id, result } of completions) if (result !== null) entries.push(`"${id}":${result}`);
  return `{${entries.join(',')}}`;
}
