import type { QueueClient } from '../client.ts';
import type { FinalState } from '../core/states.ts';
import { RECLAIM_GRACE_MS } from '../core/limits.ts';
import { onceMore } from './once-more.ts';

/** A job whose lease had run out, as the sweep left it. */
export interface ReclaimedJob {
  readonly id: string;
  readonly type: string;
  readonly state: 'pending' | FinalState;
  readonly claimedBy: string | null;
  readonly attempts: number;
  readonly crashes: number;
}

/**
 * The sweep: takes jobs whose lease ran out from runs that nobody may be left to end, running → pending, dead or
 * cancelled, at most `limit` of them. It knows no types and has no settings: all that it needs is on the row, written
 * there by the worker that claimed it.
 */
export async function reclaimJobs(client: QueueClient, limit: number): Promise<ReclaimedJob[]> {
  return onceMore(
    () => client.$queryRaw<ReclaimedJob[]>`
    WITH "expired" AS MATERIALIZED (
      SELECT
        "id",
        CASE
          WHEN "cancelRequestedAt" IS NOT NULL THEN 'cancelled'
          -- A poison job ends here, before it burns a worker for each of its attempts.
          WHEN "attempts" >= "maxAttempts" OR "crashes" + 1 >= "maxCrashes" THEN 'dead'
          ELSE 'pending'
        END AS "ending"
      FROM "job_queue"
      WHERE "state" = 'running'
        -- The column stands bare, or the index on it is of no use. A row that was renewed in the meantime drops out
        -- here: Postgres checks the conditions again on the row that it has locked.
        AND "lockUntil" < now() - ${RECLAIM_GRACE_MS}::float8 * interval '1 millisecond'
      ORDER BY "lockUntil"
      LIMIT ${limit}::int
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "reclaimed" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = (ending."byId" ->> job."id"::text)::"JobState",
        "finishedAt" = CASE WHEN ending."byId" ->> job."id"::text <> 'pending' THEN now() END,
        "crashes" = job."crashes" + 1,
        "runAt" = CASE
          WHEN ending."byId" ->> job."id"::text = 'pending' THEN now() + job."retryDelayMs" * interval '1 millisecond'
          ELSE job."runAt"
        END,
        "errors" = jsonb_path_query_array(
          job."errors" || jsonb_build_array(jsonb_build_object(
            'attempt', job."attempts",
            'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'worker', job."claimedBy",
            'kind', 'crashed',
            'message', 'the lease ran out: its worker did not renew it',
            'stack', NULL
          )),
          '$[last - 9 to last]'
        ),
        "claimToken" = NULL,
        "lockUntil" = NULL,
        "retryDelayMs" = NULL,
        "updatedAt" = now()
      -- As one value: a join to the rows compares each with each, which made 500 rows ten times as dear.
      FROM (SELECT jsonb_object_agg("id", "ending") AS "byId" FROM "expired") AS ending
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "expired"))
      RETURNING
        job."id"::text AS "id",
        job."type",
        job."state"::text AS "state",
        job."claimedBy",
        job."attempts",
        job."crashes",
        CASE WHEN job."state" = 'pending' AND job."runAt" <= now() + interval '1 minute' THEN job_queue_wake() END
    )
    SELECT "id", "type", "state", "claimedBy", "attempts", "crashes"
    FROM "reclaimed"`,
  );
}
