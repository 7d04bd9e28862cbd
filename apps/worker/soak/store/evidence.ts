/** Reads what the database has to say, once everything has come to rest. */
import type { SoakDatabase } from '../database.ts';
import type { EffectEvidence, Evidence, JobEvidence, Move } from '../judge/evidence.ts';

type DatabaseEvidence = Pick<Evidence, 'jobs' | 'gone' | 'orders' | 'effects' | 'outside' | 'moves'>;

export async function readEvidence({ query }: SoakDatabase): Promise<DatabaseEvidence> {
  const gone = await query<{ id: string }>('SELECT id FROM soak_gone');
  const orders = await query<{ job: string }>('SELECT job FROM soak_order');
  return {
    jobs: await query<JobEvidence & Row>(
      `SELECT id, state::text, attempts, "maxAttempts", claims, "claimedBy", errors -> -1 ->> 'message' AS "lastError"
       FROM job_queue
       UNION ALL
       SELECT id, state, attempts, "maxAttempts", claims, "claimedBy", "lastError"
       FROM soak_gone
       ORDER BY id`,
    ),
    gone: new Set(gone.map(({ id }) => id)),
    orders: new Set(orders.map(({ job }) => job)),
    effects: await query<EffectEvidence & Row>('SELECT job, fence FROM soak_effect'),
    outside: await query<EffectEvidence & Row>('SELECT job, fence FROM soak_outside'),
    moves: await query<Move & Row>('SELECT * FROM soak_move ORDER BY seq'),
  };
}

/** Jobs that have not come to an end. */
export async function countUnfinished({ query }: SoakDatabase): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS count FROM job_queue WHERE state IN ('pending', 'running')`,
  );
  return row?.count ?? Number.NaN;
}

type Row = Record<string, unknown>;
