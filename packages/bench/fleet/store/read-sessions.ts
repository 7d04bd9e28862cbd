/** What the sessions of the fleet are doing at this moment. */
import type pg from 'pg';

export interface Sessions {
  readonly open: number;
  readonly active: number;
  /** Waiting for a lock of a row, a table or a transaction: what one statement does to another. */
  readonly waitingForLock: number;
  /** Waiting for a lock within the server, such as that of the WAL. */
  readonly waitingInside: number;
}

export async function readSessions(session: pg.Client): Promise<Sessions> {
  const { rows } = await session.query<Sessions>(`
    SELECT
      count(*)::float8 AS "open",
      (count(*) FILTER (WHERE state = 'active'))::float8 AS "active",
      (count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock'))::float8 AS "waitingForLock",
      (count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'LWLock'))::float8 AS "waitingInside"
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  return rows[0]!;
}
