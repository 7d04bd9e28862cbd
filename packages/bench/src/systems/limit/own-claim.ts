/**
 * The claim on `job_queue`, for one type at one level of priority: what packages/queue/src/store/claim.ts writes,
 * column by column, without what several types, levels and workers need. From the last row that was claimed on: before it
 * there are only entries of the index that vacuum has yet to remove.
 */
export const CLAIM_ON_OWN_TABLE = {
  name: 'limit_own_claim',
  text: `
    WITH "claim" AS MATERIALIZED (
      SELECT gen_random_uuid() AS "token"
    ),
    "chosen" AS MATERIALIZED (
      SELECT "runAt", "id"
      FROM "job_queue"
      WHERE "state" = 'pending'
        AND "type" = 'bench.job'
        AND "priority" = 2
        AND "runAt" <= now()
        AND ("runAt", "id") >= ($2::timestamptz, $3::uuid)
      ORDER BY "runAt", "id"
      LIMIT $1::int
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "claimed" AS (
      UPDATE "job_queue"
      SET
        "state" = 'running',
        "claimToken" = (SELECT "token" FROM "claim"),
        "lockUntil" = now() + interval '30 seconds',
        "attempts" = "attempts" + 1,
        "claims" = "claims" + 1,
        "retryDelayMs" = LEAST(600000, 2000 * power(2, LEAST("attempts", 30)) * (0.5 + random() / 2))::int,
        "claimedBy" = 'limit-0123abcd',
        "claimedAt" = now(),
        "updatedAt" = now()
      WHERE "id" = ANY (ARRAY(SELECT "id" FROM "chosen"))
      RETURNING "id", "payload"
    )
    SELECT
      (SELECT "token" FROM "claim") AS "token",
      json_agg("id") AS "ids",
      json_agg("payload") AS "payloads",
      (SELECT json_build_array("runAt", "id") FROM "chosen" ORDER BY "runAt" DESC, "id" DESC LIMIT 1) AS "head"
    FROM "claimed"`,
};
