import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/** Deletes at most `limit` jobs that finished longer than `olderThanMs` ago; the number that went. */
export async function deleteFinished(
  client: QueueClient,
  olderThanMs: number,
  limit: number,
): Promise<number> {
  return onceMore(
    () => client.$executeRaw`
    DELETE FROM "job_queue"
    WHERE "id" = ANY (ARRAY(
      SELECT "id"
      FROM "job_queue"
      -- As the partial index spells it.
      WHERE "state" = ANY (ARRAY['completed'::"JobState", 'cancelled'::"JobState", 'dead'::"JobState"])
        AND "finishedAt" < now() - ${olderThanMs}::float8 * interval '1 millisecond'
      ORDER BY "finishedAt"
      LIMIT ${limit}::int
      FOR UPDATE SKIP LOCKED
    ))`,
  );
}
