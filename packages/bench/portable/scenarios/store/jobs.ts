/** Counts the rows of the queue, for what the samples cannot say: whether everything that was enqueued is there and done. */
import type { BenchDatabase } from '../database.ts';

export interface Jobs {
  readonly rows: number;
  readonly running: number;
  /** Neither running nor completed. */
  readonly waiting: number;
  readonly dead: number;
}

export async function countRows(database: BenchDatabase): Promise<Jobs> {
  const [row] = await database.query<Jobs & Record<string, number>>(`
    SELECT
      count(*)::int AS rows,
      (count(*) FILTER (WHERE state = 'running'))::int AS running,
      (count(*) FILTER (WHERE state = 'pending'))::int AS waiting,
      (count(*) FILTER (WHERE state IN ('dead', 'cancelled')))::int AS dead
    FROM public.job_queue`);
  return row!;
}

/** Rows that one of these processes has claimed, and neither settled nor handed back. */
export async function countClaimsOf(pids: readonly number[], database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ claims: number }>(
    `SELECT count(*)::int AS claims
     FROM public.job_queue
     WHERE state = 'running'
       AND split_part("claimedBy", '-', 3) = ANY ($1)`,
    [pids.map(String)],
  );
  return row!.claims;
}
