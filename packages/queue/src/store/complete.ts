import type { QueueClient } from '../client.ts';
import { byToken, nameOf, type Fence, type Unsettled } from './fence.ts';
import { splitUnsettled, type UnsettledRow } from './unsettled.ts';

export interface Completion extends Fence {
  /** JSON that jsonb takes; null for no result. */
  readonly result: string | null;
}

/**
 * Settles finished runs, running → completed: the hot path, apart from the other settlements because it is most of
 * them and needs least. For a batch, and for one row inside a handler's transaction (`ctx.complete`). An id may stand in
 * it twice, under two tokens: one of them at most is the row's.
 */
export async function completeJobs(
  client: QueueClient,
  completions: readonly Completion[],
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
        -- Each row against its own token, and not by a join, which turned into a scan of the table (170 ms for 1,000
        -- rows, not 7). What IS TRUE stands behind is only ever looked at row by row: nor is the index of the leases
        -- read from end to end for the state, with every running row of every worker.
        AND (
          "state" = 'running'
          AND ("id", "claimToken") IN (SELECT "id", "claimToken" FROM "asked")
        ) IS TRUE
      ORDER BY "id"
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "completed" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = 'completed',
        -- Most batches have no result to look for.
        "result" = CASE
          WHEN results."byName" IS NOT NULL THEN results."byName" -> (job."claimToken"::text || job."id"::text)
        END,
        "claimToken" = NULL,
        "lockUntil" = NULL,
        "retryDelayMs" = NULL,
        "finishedAt" = now(),
        "updatedAt" = now()
      FROM (SELECT ${resultsByName(completions)}::jsonb AS "byName") AS results
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING job."id"
    )
    -- Nothing is returned where everything went well.
    SELECT
      asked."id"::text AS "id",
      asked."claimToken"::text AS "claimToken",
      -- As the row was when the statement began; only a running row has one. A token that stood then says that the row
      -- is locked, any other that the claim is gone, since no token ever comes back.
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = asked."id"
      ) AS "tokenSeen"
    FROM "asked"
    -- Looked through only where fewer were completed than were asked for; and by looking up, not by joins, which take
    -- 20 ms more where one of a thousand is missing.
    WHERE (SELECT count(*) FROM "completed") < (SELECT count(*) FROM "asked")
      AND (asked."id", asked."claimToken") NOT IN (
        SELECT held."id", held."claimToken"
        FROM "held"
        WHERE (held."id" IN (SELECT "id" FROM "completed")) IS TRUE
      )`;
  return splitUnsettled(unsettled);
}

/** By token and id in one key: in an object of each claim, all of its results would be copied to find one. Null for none. */
function resultsByName(completions: readonly Completion[]): string | null {
  const entries: string[] = [];
  // Spelled by hand, because the results are JSON already.
  for (const completion of completions) {
    if (completion.result !== null) entries.push(`"${nameOf(completion)}":${completion.result}`);
  }
  return entries.length === 0 ? null : `{${entries.join(',')}}`;
}
