import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/** The unfinished jobs that hold these dedupe keys of a type, by key. A key whose job has just finished is missing. */
export async function findDuplicates(client: QueueClient, type: string, keys: readonly string[]) {
  const found = await onceMore(
    () => client.$queryRaw<{ id: string; dedupeKey: string }[]>`
    SELECT "id", "dedupeKey"
    FROM "job_queue"
    WHERE "type" = ${type}::text
      AND "dedupeKey" = ANY (${keys}::text[])
      -- The predicate of the unique index, so that it is the one that is used.
      AND (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])))`,
  );
  return new Map(found.map((row) => [row.dedupeKey, row.id]));
}
