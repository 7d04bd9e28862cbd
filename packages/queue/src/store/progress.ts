import type { QueueClient } from '../client.ts';
import { fencedWhere, type Fence } from './fence.ts';
import { onceMore } from './once-more.ts';

export type ProgressWrite = 'written' | 'locked' | 'lost';

/**
 * Running → running. Not a plain update, because that would wait for the row's lock, and it may be the handler's own
 * transaction, waiting for this, that holds it.
 *
 * @param progress JSON that jsonb takes.
 */
export async function writeProgress(
  client: QueueClient,
  fence: Fence,
  progress: string,
): Promise<ProgressWrite> {
  const { id, claimToken } = fencedWhere(fence);
  const [row] = await onceMore(
    () => client.$queryRaw<{ write: ProgressWrite }[]>`
    WITH "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ${id}::uuid
        AND "claimToken" = ${claimToken}::uuid
        -- As text: see complete.ts.
        AND "state"::text = 'running'
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "written" AS (
      UPDATE "job_queue"
      SET "progress" = ${progress}::jsonb
      WHERE "id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING "id"
    )
    SELECT CASE
      WHEN EXISTS (SELECT FROM "written") THEN 'written'
      WHEN EXISTS (
        SELECT
        FROM "job_queue"
        WHERE "id" = ${id}::uuid AND "claimToken" = ${claimToken}::uuid AND "state"::text = 'running'
      ) THEN 'locked'
      ELSE 'lost'
    END AS "write"`,
  );
  return row?.write ?? 'lost';
}
