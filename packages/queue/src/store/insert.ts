import type { QueueClient } from '../client.ts';
import { insertOne } from './insert-one.ts';
import type { NewJob, NewJobs } from './new-job.ts';
import { onceMore } from './once-more.ts';

/**
 * Inserts jobs of one type that have no dedupe key, and returns the ids of those that went in: all, but for what a
 * trigger of the app's may have left out. Runs in the caller's transaction.
 */
export async function insertJobs(client: QueueClient, { type, maxAttempts, maxCrashes, jobs }: NewJobs) {
  if (jobs.length === 1) return insertOne(client, { type, maxAttempts, maxCrashes, job: jobs[0]! });
  const columns = columnsOf(jobs);
  const inserted = await onceMore(
    () => client.$queryRaw<{ id: string }[]>`
    INSERT INTO "job_queue" ("id", "type", "payload", "priority", "runAt", "maxAttempts", "maxCrashes")
    SELECT
      job."id",
      ${type}::text,
      job."payload"::jsonb,
      job."priority",
      -- An instant comes as epoch, so that no session's time zone has a say in it.
      COALESCE(
        to_timestamp(job."runAtMs" / 1000.0),
        now() + job."delayMs" * interval '1 millisecond'
      ),
      ${maxAttempts}::int,
      ${maxCrashes}::int
    -- A text a column: of a list, each item would pass through Prisma and pg by itself.
    FROM ROWS FROM (
      unnest(string_to_array(${columns.ids}, ',')::uuid[]),
      -- Not as jsonb, which holds 256 MB: digits take six times as much there as their JSON.
      json_array_elements(${columns.payloads}::json),
      unnest(string_to_array(${columns.priorities}, ',')::smallint[]),
      unnest(string_to_array(${columns.runAts}, ',', '')::float8[]),
      unnest(string_to_array(${columns.delays}, ',')::float8[])
    ) AS job("id", "payload", "priority", "runAtMs", "delayMs")
    RETURNING "id"`,
  );
  return new Set(inserted.map((row) => row.id));
}

function columnsOf(jobs: readonly NewJob[]) {
  return {
    ids: jobs.map((job) => job.id).join(','),
    payloads: `[${jobs.map((job) => job.payload).join(',')}]`,
    priorities: jobs.map((job) => job.priority).join(','),
    runAts: jobs.map((job) => job.runAtMs ?? '').join(','),
    delays: jobs.map((job) => job.delayMs).join(','),
  };
}
