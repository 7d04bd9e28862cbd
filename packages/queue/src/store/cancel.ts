import type { QueueClient } from '../client.ts';
import type { JobState } from '../core/states.ts';
import { onceMore } from './once-more.ts';

/** The row before and after. `after` is null where nothing was changed. */
export interface CancelRow {
  readonly before: JobState;
  readonly after: JobState | null;
}

/**
 * Cancels a job: pending → cancelled at once; of a running one its worker is asked to stop, which it hears by the
 * wake-up, or with its next renewal. No row: no such job.
 */
export async function cancelRow(client: QueueClient, id: string): Promise<CancelRow | undefined> {
  const [row] = await onceMore(
    () => client.$queryRaw<CancelRow[]>`
    WITH "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ${id}::uuid
        AND "state" IN ('pending', 'running')
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "cancelled" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = CASE "state" WHEN 'pending' THEN 'cancelled' ELSE "state" END,
        "finishedAt" = CASE "state" WHEN 'pending' THEN now() END,
        "cancelRequestedAt" = COALESCE("cancelRequestedAt", now()),
        "updatedAt" = now()
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING
        job."state",
        CASE WHEN job."state" = 'running' THEN pg_notify('job_queue', 'cancel')::text END
    )
    SELECT
      job."state"::text AS "before",
      (SELECT "state" FROM "cancelled")::text AS "after"
    FROM "job_queue" AS job
    WHERE job."id" = ${id}::uuid`,
  );
  return row;
}
