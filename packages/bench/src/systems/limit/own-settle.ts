/**
 * The completion on `job_queue`: what packages/queue/src/store/complete.ts writes, column by column. Each row is matched
 * with its own token; IS TRUE keeps the match from becoming a join, which scans the table.
 */
export const SETTLE_ON_OWN_TABLE = {
  name: 'limit_own_settle',
  text: `
    UPDATE "job_queue"
    SET
      "state" = 'completed',
      "claimToken" = NULL,
      "lockUntil" = NULL,
      "retryDelayMs" = NULL,
      "finishedAt" = now(),
      "updatedAt" = now()
    WHERE "id" = ANY ($1::uuid[])
      AND (("id", "claimToken") IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))) IS TRUE`,
};
