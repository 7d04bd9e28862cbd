/** What the server has counted so far. Two readings make a measurement. */
import type pg from 'pg';
import { kindOf, STATEMENT_KINDS, type StatementKind } from '../statement-kinds.ts';

export interface StatementCount {
  readonly calls: number;
  /** In the executor; the commit that follows is not in it. */
  readonly execMs: number;
  /** In the planner; nothing where a prepared statement's plan is used again. */
  readonly planMs: number;
  readonly walBytes: number;
}

export interface Counters {
  readonly transactions: number;
  readonly walBytes: number;
  /** Times that WAL was flushed to the disk. */
  readonly walSyncs: number;
  readonly completed: number;
  readonly statements: Readonly<Record<StatementKind, StatementCount>>;
}

export async function readCounters(session: pg.Client): Promise<Counters> {
  const { rows } = await session.query<Omit<Counters, 'statements'>>(`
    SELECT
      (SELECT sum(xact_commit + xact_rollback)::float8 FROM pg_stat_database WHERE datname = current_database())
        AS "transactions",
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes",
      (SELECT wal_sync::float8 FROM pg_stat_wal) AS "walSyncs",
      (SELECT count(*)::float8 FROM "job_queue" WHERE "state" = 'completed') AS "completed"`);
  return { ...rows[0]!, statements: await readStatements(session) };
}

async function readStatements(session: pg.Client): Promise<Counters['statements']> {
  const { rows } = await session.query<StatementCount & { query: string }>(`
    SELECT
      statement.query,
      statement.calls::float8 AS "calls",
      statement.total_exec_time AS "execMs",
      statement.total_plan_time AS "planMs",
      statement.wal_bytes::float8 AS "walBytes"
    FROM pg_stat_statements AS statement
    JOIN pg_database AS database ON database.oid = statement.dbid
    WHERE database.datname = current_database()`);
  const none: StatementCount = { calls: 0, execMs: 0, planMs: 0, walBytes: 0 };
  const counts = Object.fromEntries(STATEMENT_KINDS.map((kind) => [kind, none]));
  for (const { query, calls, execMs, planMs, walBytes } of rows) {
    const kind = kindOf(query);
    const before = counts[kind]!;
    counts[kind] = {
      calls: before.calls + calls,
      execMs: before.execMs + execMs,
      planMs: before.planMs + planMs,
      walBytes: before.walBytes + walBytes,
    };
  }
  return counts as Record<StatementKind, StatementCount>;
}
