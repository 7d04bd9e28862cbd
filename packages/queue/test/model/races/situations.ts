/** Where a race starts: one row in one state, or two rows of one worker. */
import type { Database } from '../../fixtures/database.ts';
import type { ClaimedJob } from '../../../src/store/claimed-jobs.ts';
import { readTable, type Table } from '../table.ts';

export const TYPE = 'race';
export const KEY = 'k';
export const LEASE_MS = 60_000;
export const RETENTION_MS = 3_600_000;

/** A row, and the claim of it that the racing worker holds, or once held. */
export interface Target {
  readonly id: string;
  readonly claim: ClaimedJob;
}

export interface Situation {
  readonly table: Table;
  readonly targets: readonly Target[];
}

/** Without a delay, so that whoever takes it back may be followed by one who claims it anew. */
const CLAIMED = `
  "state" = 'running', "claimToken" = gen_random_uuid(), "retryDelayMs" = 0,
  "lockUntil" = now() + interval '1 minute'`;

/** What is set of a row that was once claimed and handed back, is due, has a dedupe key and as many errors as it may. */
const SITUATIONS = {
  pending: '"state" = \'pending\'',
  running: CLAIMED,
  // By a claim that nobody in the race has.
  'claimed by another': CLAIMED,
  expired: `${CLAIMED} - interval '1 hour'`,
  // The sweep leaves it alone for two seconds.
  'expired just now': `${CLAIMED} - interval '1 minute'`,
  'expired and to be cancelled': `${CLAIMED} - interval '1 hour', "cancelRequestedAt" = now() - interval '1 minute'`,
  'expired at its last attempt': `${CLAIMED} - interval '1 hour', "maxAttempts" = 1`,
  'expired at its last crash': `${CLAIMED} - interval '1 hour', "maxCrashes" = 1`,
  'dead for long': '"state" = \'dead\', "finishedAt" = now() - interval \'2 hours\'',
} as const;

export type SituationName = keyof typeof SITUATIONS;

/** Sets the stage: the table holds so many rows, all in one state. */
export async function newStage({ connect, prisma }: Database) {
  const admin = await connect();
  await admin.query('SET ROLE NONE');
  return async (name: SituationName, rows = 1): Promise<Situation> => {
    await admin.query(`
      DELETE FROM job_queue;
      INSERT INTO job_queue (type, "runAt", attempts, claims, "claimedBy", "claimedAt", "dedupeKey", errors)
      SELECT
        '${TYPE}', now() - interval '1 minute', 1, 1, 'racer', now() - interval '1 minute', '${KEY}' || n,
        (SELECT jsonb_agg(jsonb_build_object('attempt', attempt)) FROM generate_series(1, 10) AS attempt)
      FROM generate_series(1, ${rows}) AS n;
      UPDATE job_queue SET ${SITUATIONS[name]}`);
    const table = await readTable(prisma);
    return { table, targets: [...table.keys()].map((id) => targetOf(table, id, name)) };
  };
}

/** A token that no row has. */
const STALE_TOKEN = '00000000-0000-4000-8000-000000000000';

function targetOf(table: Table, id: string, name: SituationName): Target {
  const row = table.get(id);
  if (!row) throw new Error(`no row ${id}`);
  const { type, payload, priority, attempts, maxAttempts, claims, crashes, dedupeKey, progress, trace } = row;
  const at = new Date(0).toISOString();
  return {
    id,
    claim: {
      ...{ id, type, payload, priority, attempts, maxAttempts, claims, crashes, dedupeKey, progress, trace },
      ...{ runAt: at, createdAt: at, claimedAt: at, waitedMs: 0 },
      claimToken: name === 'claimed by another' ? STALE_TOKEN : (row.claimToken ?? STALE_TOKEN),
    },
  };
}
