/**
 * Is this worker doing its work? Red says that it is not and will not without help: the loop does not come round, the
 * database has been away too long or lets no claim through, or every slot is held by a handler that ignores its abort.
 * Long jobs are not illness. What is only worth knowing (a sweep that fails, types that nobody here handles) is told,
 * and stays green.
 */
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { HeldRuns } from './held-runs.ts';
import type { Maintenance } from './maintenance.ts';
import type { PollLoop } from './poll-loop.ts';

/** Beyond its sleep, a round takes a claim and a look that are not answered, 15 s each, and 10 s of backoff at most. */
const LOOP_LIMIT_MS = 45_000;
const DATABASE_LIMIT_MS = 60_000;
/** A handler whose signal was aborted so long ago does not listen to it. */
const IGNORES_ABORT_AFTER_MS = 30_000;

export interface HealthReport {
  readonly healthy: boolean;
  /** Why it is not. */
  readonly problems: readonly string[];
  readonly running: number;
  readonly slots: number;
  readonly listening: boolean;
  readonly draining: boolean;
  readonly loopIdleMs: number;
  readonly databaseFailingMs: number;
  /** What is wrong with the database, while something is that has a name. */
  readonly databaseFault: string | null;
  readonly sinceSweepMs: number;
  /** Types with due jobs that this worker has no handler for. */
  readonly unhandledTypes: readonly string[];
}

export interface HealthParts {
  readonly clock: Clock;
  readonly loop: PollLoop;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly maintenance: Maintenance;
  readonly handledTypes: ReadonlySet<string>;
  readonly pollIntervalMs: number;
  listening(): boolean;
  draining(): boolean;
}

export function checkHealth(parts: HealthParts): HealthReport {
  const { clock, loop, held, database, maintenance, handledTypes, pollIntervalMs } = parts;
  const loopIdleMs = Math.round(loop.idleForMs());
  const databaseFailingMs = Math.round(database.failingForMs());
  const draining = parts.draining();

  const problems: string[] = [];
  // A drain has a deadline of its own.
  if (!draining && loopIdleMs > pollIntervalMs + LOOP_LIMIT_MS) problems.push('the loop does not come round');
  if (databaseFailingMs > DATABASE_LIMIT_MS) problems.push('the database does not answer');
  else if (database.claimsFailingForMs() > DATABASE_LIMIT_MS) problems.push('no claim goes through');
  if (held.ignoringAbort(clock.now(), IGNORES_ABORT_AFTER_MS) === held.capacity) {
    problems.push('every slot is held by a handler that ignores its abort');
  }
  return {
    healthy: problems.length === 0,
    problems,
    running: held.taken,
    slots: held.capacity,
    listening: parts.listening(),
    draining,
    loopIdleMs,
    databaseFailingMs,
    databaseFault: database.fault()?.meaning ?? null,
    sinceSweepMs: Math.round(maintenance.sinceSweepMs()),
    unhandledTypes: maintenance
      .backlog()
      .filter(({ type, due }) => due > 0 && !handledTypes.has(type))
      .map(({ type }) => type),
  };
}
