-- How the pages of job_queue are filled and when they are vacuumed. A job is three versions of one row, enqueued, claimed
-- and settled, each with entries of its own in the indexes, since "state" stands in their predicates. What was measured
-- is in docs/performance.md, with `pnpm --filter @fencepost/queue bench:bloat --compare`.
--
-- This takes a lock that enqueues, claims and settlements do not notice (SHARE UPDATE EXCLUSIVE), and rewrites nothing:
-- pages that exist keep what they have.
ALTER TABLE "job_queue" SET (
  -- Room on a page for some of its rows' next versions: an eighth less WAL, for a table that is an eighth larger. With
  -- less than 85 the table grows faster than the WAL shrinks.
  fillfactor = 85,

  -- By default a vacuum comes when a fifth of the table is dead. The more finished jobs are kept, the more entries do
  -- claims leave at the head of their index by then, for each later claim to read past. A hundredth keeps that short;
  -- Postgres leaves out the indexes, which are dear, where next to none of the pages are concerned. The threshold is for
  -- a small table, in which a dead thousand is no burden. TOAST goes by the same parameters.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000
);
