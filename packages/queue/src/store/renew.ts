import type { QueueClient } from '../client.ts';
import { byToken, type Fence } from './fence.ts';
import { onceMore } from './once-more.ts';

/** A claim to be renewed, and for how long. */
export interface Lease extends Fence {
  readonly leaseMs: number;
}

/**
 * What the database said of a claim. `renewed` and `locked` both mean that it stands: a locked row cannot be taken by
 * the sweep either. `lost` means that it was seen without the token.
 */
export interface Renewal extends Fence {
  readonly renewal: 'renewed' | 'locked' | 'lost';
  readonly cancelRequested: boolean;
}

/**
 * Renews claims, running → running, all of a worker in one statement, and brings back cancel requests. No id may stand
 * in `leases` twice. A lease that has run out is renewed all the same while nobody has taken the row.
 */
export async function renewClaims(
  client: Pick<QueueClient, '$queryRaw'>,
  leases: readonly Lease[],
): Promise<Renewal[]> {
  if (leases.length === 0) return [];
  const { tokens, ids } = byToken(leases);
  const durations = JSON.stringify(Object.fromEntries(leases.map(({ id, leaseMs }) => [id, leaseMs])));

  return onceMore(
    () => client.$queryRaw<Renewal[]>`
    WITH "asked" AS MATERIALIZED (
      SELECT claim."claimToken", unnest(claim."ids"::uuid[]) AS "id"
      FROM unnest(${tokens}::uuid[], ${ids}::text[]) AS claim("claimToken", "ids")
    ),
    "held" AS MATERIALIZED (
      SELECT "id"
      FROM "job_queue"
      WHERE "id" = ANY (ARRAY(SELECT "id" FROM "asked"))
        -- Each row against its own token, behind IS TRUE: see complete.ts.
        AND (
          "state" = 'running'
          AND ("id", "claimToken") IN (SELECT "id", "claimToken" FROM "asked")
        ) IS TRUE
      ORDER BY "id"
      -- A handler's transaction may hold its job's row: the others are not to wait for it.
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    "renewed" AS (
      UPDATE "job_queue" AS job
      SET "lockUntil" = now() + (durations."byId" ->> job."id"::text)::float8 * interval '1 millisecond'
      FROM (SELECT ${durations}::jsonb AS "byId") AS durations
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "held"))
      RETURNING job."id"
    )
    SELECT
      asked."id"::text AS "id",
      asked."claimToken"::text AS "claimToken",
      CASE
        WHEN EXISTS (SELECT FROM "renewed" WHERE "renewed"."id" = asked."id") THEN 'renewed'
        WHEN seen."state" = 'running' AND seen."claimToken" = asked."claimToken" THEN 'locked'
        ELSE 'lost'
      END AS "renewal",
      seen."cancelRequestedAt" IS NOT NULL AS "cancelRequested"
    FROM "asked"
    -- As the row was when the statement began. One row by primary key, and OFFSET 0 so that it stays that way.
    LEFT JOIN LATERAL (
      SELECT job."state", job."claimToken", job."cancelRequestedAt"
      FROM "job_queue" AS job
      WHERE job."id" = asked."id"
      OFFSET 0
    ) AS seen ON true`,
  );
}
