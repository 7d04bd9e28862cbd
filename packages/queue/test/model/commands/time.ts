/**
 * Lets time pass for one row, by moving what stands on it: a lease runs out, a job becomes due, a finished one grows old.
 */
import fc from 'fast-check';
import type { QueueClient } from '../../../src/client.ts';
import type { ErrorEntry } from '../../../src/store/job-row.ts';
import { isFinished, isUnfinished } from '../moves/move.ts';
import { SECOND, withRow, type Instant, type Row } from '../table.ts';
import { command, pick, step, type Command, type Real, type World } from '../world.ts';
import { RETENTION_MS } from './sweep.ts';
import { drawn } from './kinds.ts';

type Column = 'lockUntil' | 'runAt' | 'finishedAt';

interface Passing {
  readonly label: string;
  readonly column: Column;
  readonly isFor: (row: Row) => boolean;
  /** From now. */
  readonly seconds: readonly number[];
}

/** The sweep leaves a lease alone until two seconds past its end. */
export const leaseEndsCommand = passing({
  label: 'lease ends',
  column: 'lockUntil',
  isFor: ({ state }) => state === 'running',
  seconds: [-3, -60, -1, -1],
});

export const fallsDueCommand = passing({
  label: 'falls due',
  column: 'runAt',
  isFor: ({ state }) => state === 'pending',
  seconds: [-1, -1, -30, 60],
});

const RETENTION = RETENTION_MS / 1_000;

export const growsOldCommand = passing({
  label: 'grows old',
  column: 'finishedAt',
  isFor: isFinished,
  seconds: [-2 * RETENTION, -RETENTION - 60, -RETENTION + 60],
});

function passing({ label, column, isFor, seconds }: Passing): fc.Arbitrary<Command> {
  return fc.record({ row: drawn, moved: fc.constantFrom(...seconds) }).map(({ row, moved }) =>
    command(
      `${label}(${row}, ${moved} s)`,
      (world, real) => passTime(world, real, pick(world.rows.filter(isFor), row), column, moved),
      (world) => world.rows.some(isFor),
    ),
  );
}

/** @param seconds from now, where the column is moved to. */
export async function passTime(world: World, real: Real, row: Row, column: Column, seconds: number) {
  await step(world, real, {
    cause: 'hand',
    async act(tx, now) {
      const instant = now + seconds * SECOND;
      await move(tx, row.id, column, instant);
      return withRow(world.table, { ...row, [column]: instant });
    },
  });
}

/** A job that has failed often before: one more and the list of its errors is full, or overflows. */
export const longPastCommand = fc
  .record({ row: drawn, errors: fc.integer({ min: 8, max: 10 }) })
  .map(({ row, errors: count }) =>
    command(
      `has failed before(${row}, ${count} times)`,
      (world, real) =>
        step(world, real, {
          cause: 'hand',
          async act(tx) {
            const picked = pick(world.rows.filter(isUnfinished), row);
            const errors = Array.from({ length: count }, (_, n): ErrorEntry => {
              const attempt = n + 1;
              return { ...LONG_AGO, attempt, message: `no luck at attempt ${attempt}` };
            });
            await tx.$executeRaw`
              UPDATE "job_queue"
              SET "errors" = ${JSON.stringify(errors)}::jsonb
              WHERE "id" = ${picked.id}::uuid`;
            return withRow(world.table, { ...picked, errors });
          },
        }),
      (world) => world.rows.some(isUnfinished),
    ),
  );

const LONG_AGO = { at: '2026-01-01T00:00:00.000Z', kind: 'failed', worker: 'worker-0', stack: null } as const;

async function move(tx: QueueClient, id: string, column: Column, instant: Instant): Promise<void> {
  const moved: Record<Column, Instant | null> = { lockUntil: null, runAt: null, finishedAt: null };
  moved[column] = instant;
  await tx.$executeRaw`
    UPDATE "job_queue"
    SET
      "lockUntil" = COALESCE(to_timestamp(${moved.lockUntil}::numeric / 1000000), "lockUntil"),
      "runAt" = COALESCE(to_timestamp(${moved.runAt}::numeric / 1000000), "runAt"),
      "finishedAt" = COALESCE(to_timestamp(${moved.finishedAt}::numeric / 1000000), "finishedAt")
    WHERE "id" = ${id}::uuid`;
}
