import type { QueueClient } from '../client.ts';
import { HEAD_SLACK_MS, type Head, type Heads } from '../core/heads.ts';
import { headArrays } from './head-arrays.ts';
import { onceMore } from './once-more.ts';

export interface FoundHeads {
  readonly heads: Heads;
  /**
   * Milliseconds, by the database's clock, until the next pending job is due; null if there is none. Negative where one
   * is due already: it became so after the claim that did not find it, or somebody has its row locked.
   */
  readonly dueInMs: number | null;
  readonly tookMs: number;
  /** How many entries of jobs that are no longer pending it has passed: many, where a snapshot holds them back. */
  readonly passed: number;
}

/** The first pending job of each type and level of priority, from the beginning or from heads that are remembered. */
export async function findHeads(
  client: QueueClient,
  types: readonly string[],
  from?: Heads,
): Promise<FoundHeads> {
  const { runAts, ids } = headArrays(types, from);
  const [row] = await onceMore(
    () => client.$queryRaw<Found[]>`
    -- Entries of the claim's index that were looked at. Postgres counts them for the session, and not from this statement
    -- on: what it has counted before is to be taken off.
    WITH "before" AS MATERIALIZED (
      SELECT COALESCE(pg_stat_get_xact_tuples_returned(to_regclass('"job_queue_due"')), 0) AS "entries"
    ),
    "found" AS MATERIALIZED (
      SELECT wanted."nth", level."priority", head."runAt", head."id"
      FROM unnest(${types}::text[]) WITH ORDINALITY AS wanted("type", "nth")
      CROSS JOIN (VALUES (0::smallint), (1::smallint), (2::smallint), (3::smallint)) AS level("priority")
      -- The first entry of each range of the claim's index, so that a million jobs for later cost what one does.
      LEFT JOIN LATERAL (
        SELECT queued."runAt", queued."id"
        FROM "job_queue" AS queued
        WHERE queued."state" = 'pending'
          AND queued."type" = wanted."type"
          AND queued."priority" = level."priority"
          -- Reads the counter before the first look.
          AND (SELECT "entries" FROM "before") >= 0
          AND (queued."runAt", queued."id") >= (
            COALESCE((${runAts}::timestamptz[])[4 * wanted."nth" + level."priority" - 3], '-infinity'),
            COALESCE((${ids}::uuid[])[4 * wanted."nth" + level."priority" - 3], '00000000-0000-0000-0000-000000000000'::uuid)
          )
        ORDER BY queued."runAt", queued."id"
        LIMIT 1
      ) AS head ON true
    ),
    "latest" AS (
      SELECT now() - ${HEAD_SLACK_MS}::float8 * interval '1 millisecond' AS "runAt"
    )
    SELECT
      json_agg(
        -- What is enqueued from now on comes before a job for later, and into a range that is empty.
        CASE
          WHEN found."runAt" < latest."runAt" THEN json_build_object('runAt', found."runAt", 'id', found."id")
          ELSE json_build_object('runAt', latest."runAt", 'id', '00000000-0000-0000-0000-000000000000'::uuid)
        END
        ORDER BY found."nth", found."priority"
      )::text AS "heads",
      (extract(epoch FROM min(found."runAt") - now()) * 1000)::float8 AS "dueInMs",
      (extract(epoch FROM clock_timestamp() - now()) * 1000)::float8 AS "tookMs",
      (
        COALESCE(pg_stat_get_xact_tuples_returned(to_regclass('"job_queue_due"')), 0)
        - min("before"."entries")
        - count(found."runAt")
      )::float8 AS "passed"
    FROM "found" AS found
    CROSS JOIN "before"
    CROSS JOIN "latest" AS latest`,
  );
  const heads = JSON.parse(row?.heads ?? '[]') as Head[];
  return {
    heads: new Map(types.map((type, n) => [type, heads.slice(4 * n, 4 * n + 4)])),
    dueInMs: row?.dueInMs ?? null,
    tookMs: row?.tookMs ?? 0,
    passed: row?.passed ?? 0,
  };
}

interface Found {
  readonly heads: string | null;
  readonly dueInMs: number | null;
  readonly tookMs: number;
  readonly passed: number | null;
}
