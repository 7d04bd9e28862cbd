/**
 * The whole of job_queue as the model and the invariants see it: every column, with instants as microseconds since 1970,
 * which is as exact as Postgres keeps them and still a whole number for JavaScript.
 */
import type { QueueClient } from '../../src/client.ts';
import type { JobState } from '../../src/core/states.ts';
import type { ErrorEntry } from '../../src/store/job-row.ts';
import { only } from '../fixtures/jobs.ts';

/** Microseconds since 1970 by the database's clock. */
export type Instant = number;

export interface Row {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly state: JobState;
  readonly priority: number;
  readonly runAt: Instant;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly crashes: number;
  readonly maxCrashes: number;
  readonly claimToken: string | null;
  readonly lockUntil: Instant | null;
  readonly claimedBy: string | null;
  readonly claimedAt: Instant | null;
  readonly retryDelayMs: number | null;
  readonly progress: unknown;
  readonly result: unknown;
  readonly errors: readonly ErrorEntry[];
  readonly dedupeKey: string | null;
  readonly concurrencyKey: string | null;
  readonly cancelRequestedAt: Instant | null;
  readonly trace: unknown;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt: Instant | null;
}

/** Rows by id. */
export type Table = ReadonlyMap<string, Row>;

export const EMPTY: Table = new Map();

export const MILLISECOND = 1_000;
export const SECOND = 1_000 * MILLISECOND;

const INSTANTS = [
  'runAt',
  'lockUntil',
  'claimedAt',
  'cancelRequestedAt',
  'createdAt',
  'updatedAt',
  'finishedAt',
] as const;

export async function readTable(client: QueueClient): Promise<Table> {
  const rows = await client.$queryRaw<{ row: string }[]>`
    SELECT (
      to_jsonb(job) || (
        SELECT jsonb_object_agg(instant."name", (extract(epoch FROM instant."at") * 1000000)::bigint)
        FROM unnest(
          ${INSTANTS}::text[],
          ARRAY[
            "runAt", "lockUntil", "claimedAt", "cancelRequestedAt", "createdAt", "updatedAt", "finishedAt"
          ]
        ) AS instant("name", "at")
      )
    )::text AS "row"
    FROM "job_queue" AS job
    ORDER BY "id"`;
  return new Map(rows.map(({ row }) => JSON.parse(row) as Row).map((row) => [row.id, row]));
}

/** When the transaction began: what now() is for every statement in it. */
export async function readNow(client: QueueClient): Promise<Instant> {
  const rows = await client.$queryRaw<{ now: string }[]>`
    SELECT (extract(epoch FROM now()) * 1000000)::bigint::text AS "now"`;
  return Number(only(rows).now);
}

export function withRow(table: Table, row: Row): Table {
  return new Map(table).set(row.id, row);
}

export function withoutRows(table: Table, ids: readonly string[]): Table {
  const gone = new Set(ids);
  return new Map([...table].filter(([id]) => !gone.has(id)));
}

/** For comparison: in the order of the ids. */
export function listed(table: Table): Row[] {
  return [...table.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
