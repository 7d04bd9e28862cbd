/** How long the jobs of a window waited for their claim, by the database's clock, and how many claims brought them. */
import type pg from 'pg';

export interface Waits {
  readonly enqueued: number;
  readonly unclaimed: number;
  /** Claims that found something: the rows of one have its worker and the time of its transaction. */
  readonly claims: number;
  /** Milliseconds; null where nothing was claimed. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export async function readWaits(session: pg.Client, from: Date, to: Date): Promise<Waits> {
  const { rows } = await session.query<Waits>(
    `SELECT
       count(*)::float8 AS "enqueued",
       (count(*) FILTER (WHERE "claimedAt" IS NULL))::float8 AS "unclaimed",
       (count(DISTINCT ("claimedBy", "claimedAt")) FILTER (WHERE "claimedAt" IS NOT NULL))::float8 AS "claims",
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM "claimedAt" - "runAt") * 1000) AS "p50",
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM "claimedAt" - "runAt") * 1000) AS "p95"
     FROM "job_queue"
     WHERE "createdAt" >= $1 AND "createdAt" < $2`,
    [from, to],
  );
  return rows[0]!;
}
