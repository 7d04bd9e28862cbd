/**
 * Stops a statement between its look and its write. A policy of row-level security is a condition that Postgres evaluates
 * for each row that a statement finds, under the statement's snapshot and before the row is locked; this one waits
 * while the gate of its session is closed. It waits for an advisory lock, since a session that waits for a lock can be
 * seen to do so.
 */
import { waitFor } from '@fencepost/testing';
import type { Database } from '../../fixtures/database.ts';

/** Policies do not hold for superusers, which a test server's user mostly is; this role every database has. */
export const GATED = { role: 'pg_database_owner' } as const;

const KEY = 20_261_130;

export interface Gate {
  readonly close: (pid: number) => Promise<void>;
  readonly open: (pid: number) => Promise<void>;
  /** Resolves when the session waits, at its gate or for another one's lock, or when the statement is over. */
  readonly whenWaiting: (pid: number, statement: Promise<unknown>) => Promise<'waiting' | 'over'>;
}

/** @param database opened with the settings `GATED`. */
export async function buildGate({ connect }: Database): Promise<Gate> {
  const admin = await connect();
  await admin.query('SET ROLE NONE');
  await admin.query(`
    CREATE FUNCTION pass_gate() RETURNS boolean
    LANGUAGE plpgsql
    SET lock_timeout = 0
    AS $$
    BEGIN
      PERFORM pg_advisory_lock_shared(${KEY}, pg_backend_pid());
      PERFORM pg_advisory_unlock_shared(${KEY}, pg_backend_pid());
      RETURN true;
    END
    $$;
    ALTER TABLE job_queue ENABLE ROW LEVEL SECURITY;
    ALTER TABLE job_queue FORCE ROW LEVEL SECURITY;
    CREATE POLICY gate ON job_queue USING (pass_gate()) WITH CHECK (true);
    GRANT USAGE ON SCHEMA public TO ${GATED.role};
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${GATED.role}`);

  const isWaiting = async (pid: number) => {
    const { rowCount } = await admin.query('SELECT FROM pg_locks WHERE pid = $1 AND NOT granted', [pid]);
    return rowCount !== 0;
  };

  return {
    close: async (pid) => void (await admin.query('SELECT pg_advisory_lock($1, $2)', [KEY, pid])),
    open: async (pid) => void (await admin.query('SELECT pg_advisory_unlock($1, $2)', [KEY, pid])),
    async whenWaiting(pid, statement) {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      void statement.then(over, over);
      await waitFor(async () => isOver || (await isWaiting(pid)), { interval: 1 });
      return isOver ? 'over' : 'waiting';
    },
  };
}
