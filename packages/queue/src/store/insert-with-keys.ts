import type { QueueClient } from '../client.ts';
import type { NewJobs } from './new-job.ts';
import { onceMore } from './once-more.ts';

/**
 * Inserts jobs of one type of which some have a dedupe key, and returns the ids of those that went in. The others met an
 * unfinished job with their key. Runs in the caller's transaction.
 */
export async function insertJobsWithKeys(
  client: QueueClient,
  { type, maxAttempts, maxCrashes, jobs }: NewJobs,
) {
  const inserted = await onceMore(
    () => client.$queryRaw<{ id: string }[]>`
    INSERT INTO "job_queue" ("id", "type", "payload", "priority", "runAt", "dedupeKey", "maxAttempts", "maxCrashes")
    SELECT
      job."id",
      ${type}::text,
      job."payload",
      job."priority",
      -- An instant comes as epoch, so that no session's time zone has a say in it.
      COALESCE(
        to_timestamp(job."runAtMs" / 1000.0),
        now() + job."delayMs" * interval '1 millisecond'
      ),
      job."dedupeKey",
      ${maxAttempts}::int,
      ${maxCrashes}::int
    FROM unnest(
      ${jobs.map((job) => job.id)}::uuid[],
      ${jobs.map((job) => job.payload)}::jsonb[],
      ${jobs.map((job) => job.priority)}::smallint[],
      ${jobs.map((job) => job.runAtMs)}::float8[],
      ${jobs.map((job) => job.delayMs)}::float8[],
      ${jobs.map((job) => job.dedupeKey)}::text[]
    ) AS job("id", "payload", "priority", "runAtMs", "delayMs", "dedupeKey")
    -- The index below waits for whoever is changing the job that has the key: a handler's transaction, perhaps, that
    -- holds it for long. What can be seen to be a duplicate is not to wait. One look-up a job that has a key, never a join.
    -- And none for the others: planned while the table was empty, the look-up is a scan.
    WHERE job."dedupeKey" IS NULL OR (
      SELECT holder."id"
      FROM "job_queue" AS holder
      WHERE holder."type" = ${type}::text
        AND holder."dedupeKey" = job."dedupeKey"
        AND ((holder."dedupeKey" IS NOT NULL) AND (holder."state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])))
    ) IS NULL
    -- One order for everybody, so that two batches with the same keys cannot deadlock.
    ORDER BY job."dedupeKey", job."id"
    -- Waits for a transaction that is making a job with the same key pending: whether this one is a duplicate depends on
    -- its outcome.
    ON CONFLICT ("type", "dedupeKey")
      WHERE (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])))
      DO NOTHING
    RETURNING "id"`,
  );
  return new Set(inserted.map((row) => row.id));
}
