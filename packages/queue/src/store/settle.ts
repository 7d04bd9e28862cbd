import type { QueueClient } from '../client.ts';
import type { AttemptError, Settlement } from '../core/decide.ts';
import { byToken, type Fence, type Unsettled } from './fence.ts';
import { splitUnsettled, type UnsettledRow } from './unsettled.ts';

/** Every settlement but a completion. */
export type Ending = Exclude<Settlement, { settle: 'complete' }>;

export interface EndedRun extends Fence {
  readonly ending: Ending;
}

/**
 * Settles runs that did not complete: running → pending (retry, snooze, release), dead or cancelled. A job whose
 * cancellation was asked for does not become pending again, whatever its run said. No id may stand in `runs` twice.
 */
export async function settleJobs(client: QueueClient, runs: readonly EndedRun[]): Promise<Unsettled> {
  if (runs.length === 0) return { lost: [], locked: [] };
  const { tokens, ids } = byToken(runs);
  const endings = JSON.stringify(Object.fromEntries(runs.map(({ id, ending }) => [id, spell(ending)])));

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
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "settled" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = CASE
          WHEN "cancelRequestedAt" IS NOT NULL THEN 'cancelled'
          ELSE ending."byId" -> job."id"::text ->> 'state'
        END::"JobState",
        "finishedAt" = CASE
          WHEN "cancelRequestedAt" IS NULL AND ending."byId" -> job."id"::text ->> 'state' = 'pending' THEN NULL
          ELSE now()
        END,
        "runAt" = CASE ending."byId" -> job."id"::text ->> 'due'
          WHEN 'after retryDelayMs' THEN now() + "retryDelayMs" * interval '1 millisecond'
          WHEN 'after delayMs' THEN
            now() + (ending."byId" -> job."id"::text ->> 'delayMs')::float8 * interval '1 millisecond'
          ELSE "runAt"
        END,
        "attempts" = GREATEST(0, "attempts" - (ending."byId" -> job."id"::text ->> 'uncharged')::int),
        -- Appended, never overwritten; the last ten are kept. A path below the first element is the first element.
        "errors" = CASE
          WHEN ending."byId" -> job."id"::text -> 'error' = 'null' THEN "errors"
          ELSE jsonb_path_query_array(
            "errors" || jsonb_build_array(
              jsonb_build_object(
                'attempt', "attempts",
                'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'worker', "claimedBy"
              ) || (ending."byId" -> job."id"::text -> 'error')
            ),
            '$[last - 9 to last]'
          )
        END,
        "claimToken" = NULL,
        "lockUntil" = NULL,
        "retryDelayMs" = NULL,
        "updatedAt" = now()
      FROM (SELECT ${endings}::jsonb AS "byId") AS ending
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING
        job."id",
        -- The trigger wakes workers for what is inserted; here it is for what a settlement makes due.
        CASE WHEN job."state" = 'pending' AND job."runAt" <= now() + interval '1 minute' THEN job_queue_wake() END
    )
    SELECT
      asked."id"::text AS "id",
      asked."claimToken"::text AS "claimToken",
      (
        SELECT job."claimToken"::text
        FROM "job_queue" AS job
        WHERE job."id" = asked."id"
      ) AS "tokenSeen"
    FROM "asked"
    -- Looked through only where fewer were settled than were asked for; and by looking up, not by joins, which take
    -- 20 ms more where one of a thousand is missing.
    WHERE (SELECT count(*) FROM "settled") < (SELECT count(*) FROM "asked")
      AND (asked."id", asked."claimToken") NOT IN (
        SELECT held."id", held."claimToken"
        FROM "held"
        WHERE (held."id" IN (SELECT "id" FROM "settled")) IS TRUE
      )`;
  return splitUnsettled(unsettled);
}

/** A settlement in the words of the row. */
interface SpelledEnding {
  readonly state: 'pending' | 'dead' | 'cancelled';
  readonly due: 'as before' | 'after retryDelayMs' | 'after delayMs';
  readonly delayMs?: number;
  /** Attempts given back. */
  readonly uncharged: 0 | 1;
  readonly error: AttemptError | null;
}

function spell(ending: Ending): SpelledEnding {
  switch (ending.settle) {
    case 'retry':
      return { state: 'pending', due: 'after retryDelayMs', uncharged: 0, error: ending.error };
    case 'bury':
      return { state: 'dead', due: 'as before', uncharged: 0, error: ending.error };
    case 'cancel':
      return { state: 'cancelled', due: 'as before', uncharged: 0, error: ending.error };
    case 'snooze':
      return { state: 'pending', due: 'after delayMs', delayMs: ending.delayMs, uncharged: 1, error: null };
    case 'release':
      return { state: 'pending', due: 'as before', uncharged: 1, error: null };
  }
}
