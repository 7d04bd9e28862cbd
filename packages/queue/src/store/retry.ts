import type { QueueClient } from '../client.ts';
import type { JobState } from '../core/states.ts';
import { onceMore } from './once-more.ts';

export interface RetryRow {
  readonly before: JobState;
  readonly retried: boolean;
  /** An unfinished job that holds the same dedupe key. */
  readonly duplicateId: string | null;
}

/**
 * An operator's retry: completed, cancelled or dead → pending, due at once, a life of its own: attempts and crashes
 * start anew, errors and progress stay. No row: no such job.
 */
export async function retryRow(client: QueueClient, id: string): Promise<RetryRow | undefined> {
  const [row] = await onceMore(
    () => client.$queryRaw<RetryRow[]>`
    WITH "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue" AS job
      WHERE "id" = ${id}::uuid
        AND "state" IN ('completed', 'cancelled', 'dead')
        AND NOT EXISTS (
          SELECT
          FROM "job_queue" AS other
          WHERE other."type" = job."type"
            AND other."dedupeKey" = job."dedupeKey"
            AND other."state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])
        )
      FOR NO KEY UPDATE OF job SKIP LOCKED
    ),
    "retried" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = 'pending',
        "runAt" = now(),
        "attempts" = 0,
        "crashes" = 0,
        "cancelRequestedAt" = NULL,
        "result" = NULL,
        "finishedAt" = NULL,
        "updatedAt" = now()
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      -- Not by job_queue_wake(), whose lock would be held, and others' wake-ups kept back, as long as the caller's
      -- transaction goes on.
      RETURNING pg_notify('job_queue', '')::text
    )
    SELECT
      job."state"::text AS "before",
      EXISTS (SELECT FROM "retried") AS "retried",
      (
        SELECT other."id"::text
        FROM "job_queue" AS other
        WHERE other."type" = job."type"
          AND other."dedupeKey" = job."dedupeKey"
          AND other."state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])
      ) AS "duplicateId"
    FROM "job_queue" AS job
    WHERE job."id" = ${id}::uuid`,
  );
  return row;
}
