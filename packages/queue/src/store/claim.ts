import type { QueueClient } from '../client.ts';
import type { Heads } from '../core/heads.ts';
import { MAX_CLAIM } from '../core/limits.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import { claimedJobs, type ClaimedColumns, type ClaimedJob } from './claimed-jobs.ts';
import { headArrays } from './head-arrays.ts';
import { onceMore } from './once-more.ts';

/** What a worker can take of one type. */
export interface Wanted {
  readonly type: string;
  /** At most so many jobs. */
  readonly slots: number;
  readonly leaseMs: number;
  readonly retry: RetryPolicy;
}

export interface ClaimRequest {
  readonly workerId: string;
  /** Only these types are looked at: a type without a handler stays pending. */
  readonly wanted: readonly Wanted[];
  /** At most so many jobs over all types, and 1,000 at most; where more are due, types take turns. */
  readonly capacity: number;
  /** From where to look, of each type that is wanted; from the beginning by default, which alone sees every job. */
  readonly from?: Heads | undefined;
}

/**
 * The one way to a claim, for all types and all callers: pending → running. A transaction of its own that holds nothing
 * but the claim; the jobs run after it has committed.
 *
 * Its cost does not grow with finished jobs, jobs for later, or jobs that are due; only with those that have passed
 * while some snapshot holds back vacuum, unless it looks from heads beyond them. Returned in the order in which they are
 * to be started: level of priority, then time.
 */
export async function claimJobs(client: QueueClient, request: ClaimRequest): Promise<ClaimedJob[]> {
  const { workerId, wanted, from } = request;
  const capacity = Math.min(request.capacity, MAX_CLAIM);
  if (wanted.length === 0 || capacity < 1) return [];
  const types = wanted.map((want) => want.type);
  const slots = wanted.map((want) => Math.min(want.slots, capacity));
  const { runAts, ids } = headArrays(types, from);
  const firstHeads = types.map((_, n) => 4 * n + 1);
  const leases = wanted.map((want) => want.leaseMs);
  const bases = wanted.map((want) => want.retry.baseMs);
  const ceilings = wanted.map((want) => want.retry.maxMs);
  // Where the slots of all types are no more than may be claimed, there is nothing to deal out.
  const isScarce = slots.reduce((sum, some) => sum + some, 0) > capacity;

  const [row] = await onceMore(
    () => client.$queryRaw<ClaimedColumns[]>`
    WITH "claim" AS MATERIALIZED (
      -- One for all of its rows, each of which it tells from the row's other claims: made, sent and compared once.
      SELECT gen_random_uuid() AS "token"
    ),
    "from" AS MATERIALIZED (
      SELECT ${runAts}::timestamptz[] AS "runAts", ${ids}::uuid[] AS "ids"
    ),
    -- How many of each type: every type's first job before any type's second, the better level first; chance between
    -- equals, so that no list's order starves a type. Only looked at: a row that was locked and not taken would be
    -- passed by by every other claim of that moment, and cost 54 bytes of WAL.
    "dealt" AS MATERIALIZED (
      SELECT "type", "firstHead", count(*) AS "slots"
      FROM (
        SELECT want."type", want."firstHead"
        FROM unnest(${types}::text[], ${slots}::int[], ${firstHeads}::int[]) AS want("type", "slots", "firstHead")
        CROSS JOIN LATERAL (
          SELECT level."priority", row_number() OVER () AS "rank"
          FROM (VALUES (0::smallint), (1::smallint), (2::smallint), (3::smallint)) AS level("priority")
          -- One index range a type and level. A range over all levels would have to read every job for later of a
          -- better level before it comes to a due one of a lesser level.
          CROSS JOIN LATERAL (
            SELECT
            FROM (
              SELECT
              FROM "job_queue" AS queued
              WHERE queued."state" = 'pending'
                AND queued."type" = want."type"
                AND queued."priority" = level."priority"
                AND queued."runAt" <= now()
                AND (queued."runAt", queued."id") >= (
                  COALESCE((SELECT "runAts" FROM "from")[want."firstHead" + level."priority"], '-infinity'),
                  COALESCE((SELECT "ids" FROM "from")[want."firstHead" + level."priority"], '00000000-0000-0000-0000-000000000000'::uuid)
                )
              ORDER BY queued."runAt", queued."id"
              LIMIT want."slots"
            ) AS due
            -- MAX_CLAIM, for the planner, which takes a limit that it does not know for a tenth of all there is: with some
            -- hundred thousand due the server would compile the statement (JIT), which takes longer than to run it.
            LIMIT 1000
          ) AS candidate
          LIMIT want."slots"
        ) AS job
        WHERE ${isScarce}::boolean
        ORDER BY job."rank", job."priority", random()
        LIMIT ${capacity}::int
      ) AS job
      GROUP BY "type", "firstHead"
      UNION ALL
      SELECT want."type", want."firstHead", want."slots"
      FROM unnest(${types}::text[], ${slots}::int[], ${firstHeads}::int[]) AS want("type", "slots", "firstHead")
      WHERE NOT ${isScarce}::boolean
    ),
    "chosen" AS MATERIALIZED (
      SELECT job."id"
      FROM "dealt"
      CROSS JOIN LATERAL (
        SELECT candidate."id"
        FROM (VALUES (0::smallint), (1::smallint), (2::smallint), (3::smallint)) AS level("priority")
        CROSS JOIN LATERAL (
          SELECT queued."id"
          FROM "job_queue" AS queued
          WHERE queued."state" = 'pending'
            AND queued."type" = "dealt"."type"
            AND queued."priority" = level."priority"
            AND queued."runAt" <= now()
            AND (queued."runAt", queued."id") >= (
              COALESCE((SELECT "runAts" FROM "from")["dealt"."firstHead" + level."priority"], '-infinity'),
              COALESCE((SELECT "ids" FROM "from")["dealt"."firstHead" + level."priority"], '00000000-0000-0000-0000-000000000000'::uuid)
            )
          ORDER BY queued."runAt", queued."id"
          LIMIT "dealt"."slots"
          -- Two claims at once pass each other by. NO KEY, because a foreign key of the app's to this table takes a
          -- share of the key's lock, and is no reason to pass a job by.
          FOR NO KEY UPDATE SKIP LOCKED
        ) AS candidate
        -- Rows are locked as they are drawn: the levels after the one that fills the slots are not looked at.
        LIMIT "dealt"."slots"
      ) AS job
      -- MAX_CLAIM, for the planner, as above.
      LIMIT 1000
    ),
    "claimed" AS (
      UPDATE "job_queue" AS job
      SET
        "state" = 'running',
        "claimToken" = (SELECT "token" FROM "claim"),
        "lockUntil" = now() + (${leases}::float8[])[array_position(${types}::text[], job."type")] * interval '1 millisecond',
        -- Counted here, so that a job that kills its worker is counted without anyone having to write it down.
        "attempts" = job."attempts" + 1,
        "claims" = job."claims" + 1,
        -- base * 2^attempts so far, up to the ceiling, of which a random half to whole. The exponent is clamped: two to
        -- the power of a thousand is no float8.
        "retryDelayMs" = (
          LEAST(
            (${ceilings}::float8[])[array_position(${types}::text[], job."type")],
            (${bases}::float8[])[array_position(${types}::text[], job."type")] * power(2::float8, LEAST(job."attempts", 30))
          ) * (0.5 + random() / 2)
        )::int,
        "claimedBy" = ${workerId}::text,
        "claimedAt" = now(),
        "updatedAt" = now()
      -- By primary key, whatever the batch: as a join or IN (SELECT …) this becomes a scan of the table at 500 rows.
      WHERE job."id" = ANY (ARRAY(SELECT "id" FROM "chosen"))
        -- A worker waits ten seconds for its claim. One that commits later has no claimant, and would cost its jobs a
        -- crash each.
        AND clock_timestamp() < now() + interval '8 seconds'
      RETURNING
        "id", "type", "payload", "priority", "runAt", "createdAt", "attempts", "maxAttempts", "claims", "crashes",
        "dedupeKey", "progress", "trace"
    )
    -- A list a column: as objects it costs the server three times as much, and as rows it costs Node more. Each list is
    -- a value of its own, because json that is put into json is copied twice more.
    SELECT
      (SELECT "token" FROM "claim") AS "claimToken",
      to_json(now()) AS "claimedAt",
      json_agg("id") AS "id",
      json_agg("type") AS "type",
      json_agg("payload") AS "payload",
      json_agg("priority") AS "priority",
      json_agg("runAt") AS "runAt",
      json_agg("attempts") AS "attempts",
      json_agg("maxAttempts") AS "maxAttempts",
      json_agg("claims") AS "claims",
      -- What few jobs have, or have otherwise, is told of those alone.
      json_object_agg("id", "createdAt") FILTER (WHERE "createdAt" <> "runAt") AS "createdAt",
      json_object_agg("id", "crashes") FILTER (WHERE "crashes" > 0) AS "crashes",
      json_object_agg("id", "dedupeKey") FILTER (WHERE "dedupeKey" IS NOT NULL) AS "dedupeKey",
      json_object_agg("id", "progress") FILTER (WHERE "progress" IS NOT NULL) AS "progress",
      json_object_agg("id", "trace") FILTER (WHERE "trace" IS NOT NULL) AS "trace"
    FROM "claimed"`,
  );

  return row === undefined ? [] : claimedJobs(row);
}
