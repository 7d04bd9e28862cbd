/**
 * The completion on `job_queue`: what packages/queue/src/store/complete.ts writes, column by column, for the jobs of
 * one claim, which have its token.
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
      AND "claimToken" = $2::uuid`,
};
