import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/**
 * Milliseconds, by the database's clock, until the next pending job of these types is due; null if there is none.
 * Negative where one is due already: it became so after the claim that did not find it, or somebody has its row locked.
 */
export async function nextDueInMs(client: QueueClient, types: readonly string[]): Promise<number | null> {
  const [row] = await onceMore(
    () => client.$queryRaw<{ inMs: number | null }[]>`
    SELECT (extract(epoch FROM min(next."runAt") - now()) * 1000)::float8 AS "inMs"
    FROM unnest(${types}::text[]) AS wanted("type")
    -- The first entry of each range of the claim's index, so that a million jobs for later cost what one does.
    CROSS JOIN (VALUES (0::smallint), (1::smallint), (2::smallint), (3::smallint)) AS level("priority")
    CROSS JOIN LATERAL (
      SELECT queued."runAt"
      FROM "job_queue" AS queued
      WHERE queued."state" = 'pending'
        AND queued."type" = wanted."type"
        AND queued."priority" = level."priority"
      ORDER BY queued."runAt"
      LIMIT 1
    ) AS next`,
  );
  return row?.inMs ?? null;
}
