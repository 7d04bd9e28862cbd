/** What a stretch of time came to: the difference of two looks at the server's counters, and looks at its sessions between. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readServerCpu } from './server-cpu.ts';
import { STATEMENT_KINDS, type StatementKind } from './statement-kinds.ts';
import { readCounters, type Counters, type StatementCount } from './store/read-counters.ts';
import { readSessions, type Sessions } from './store/read-sessions.ts';

const LOOK_MS = 500;

export interface Reading {
  readonly seconds: number;
  /** Of all processes of the server but the one that looks; undefined where there is no /proc. */
  readonly cpuMs: number | undefined;
  readonly transactions: number;
  readonly walBytes: number;
  readonly walSyncs: number;
  readonly completed: number;
  readonly statements: Readonly<Record<StatementKind, StatementCount>>;
  /** Means over looks twice a second, `open` the most. */
  readonly sessions: Sessions;
}

/** Reads what happens until `act` has ended. */
export async function readWhile(session: pg.Client, act: () => Promise<void>): Promise<Reading> {
  const pid = await pidOf(session);
  const before = await readCounters(session);
  const cpuBefore = await readServerCpu(pid);
  const startedAt = performance.now();
  const looks: Sessions[] = [];
  const isOver = { yet: false };
  const acting = act().finally(() => (isOver.yet = true));
  while (!isOver.yet) {
    looks.push(await readSessions(session));
    await Promise.race([acting, sleep(LOOK_MS)]);
  }
  await acting;
  const cpuAfter = await readServerCpu(pid);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await readCounters(session);
  return {
    seconds,
    cpuMs: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
    ...difference(before, after),
    sessions: summary(looks),
  };
}

function difference(before: Counters, after: Counters): Counters {
  const statements = Object.fromEntries(
    STATEMENT_KINDS.map((kind) => [kind, lessOf(before.statements[kind], after.statements[kind])]),
  );
  return {
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
    walSyncs: after.walSyncs - before.walSyncs,
    completed: after.completed - before.completed,
    statements: statements as Record<StatementKind, StatementCount>,
  };
}

function lessOf(before: StatementCount, after: StatementCount): StatementCount {
  return {
    calls: after.calls - before.calls,
    execMs: after.execMs - before.execMs,
    planMs: after.planMs - before.planMs,
    walBytes: after.walBytes - before.walBytes,
  };
}

function summary(looks: readonly Sessions[]): Sessions {
  const mean = (of: (look: Sessions) => number) =>
    looks.reduce((sum, look) => sum + of(look), 0) / Math.max(1, looks.length);
  return {
    open: Math.max(0, ...looks.map((look) => look.open)),
    active: mean((look) => look.active),
    waitingForLock: mean((look) => look.waitingForLock),
    waitingInside: mean((look) => look.waitingInside),
  };
}

async function pidOf(session: pg.Client): Promise<number> {
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}
