import type { QueueClient } from '../client.ts';
import type { NewJob, SharedByJobs } from './new-job.ts';
import { onceMore } from './once-more.ts';

/**
 * insert.ts for one job, which most enqueues are for: without the lists, whose unfolding is a ninth of such an insert's
 * way to the server and back (docs/performance.md).
 */
export async function insertOne(
  client: QueueClient,
  { type, maxAttempts, maxCrashes, job }: SharedByJobs & { readonly job: NewJob },
) {
  const inserted = await onceMore(
    () => client.$queryRaw<{ id: string }[]>`
    INSERT INTO "job_queue" ("id", "type", "payload", "priority", "runAt", "maxAttempts", "maxCrashes")
    VALUES (
      ${job.id}::uuid,
      ${type}::text,
      ${job.payload}::jsonb,
      ${job.priority}::smallint,
      -- An instant comes as epoch, so that no session's time zone has a say in it.
      COALESCE(
        to_timestamp(${job.runAtMs}::float8 / 1000.0),
        now() + ${job.delayMs}::float8 * interval '1 millisecond'
      ),
      ${maxAttempts}::int,
      ${maxCrashes}::int
    )
    RETURNING "id"`,
  );
  return new Set(inserted.map((row) => row.id));
}
