/**
 * What holds whatever happens: of every state of the table (`expectSound`), and of every change that one committed
 * statement makes to it (`expectLawful`). It knows nothing of the model, so that a mistake made there as well as in the
 * store is still seen.
 */
import { expect } from 'vitest';
import { JOB_STATES } from '../../src/core/states.ts';
import type { Row, Table } from './table.ts';

/** Who changed the table. `hand`: the test itself, which lets time pass. */
export type Cause =
  | 'enqueue'
  | 'claim'
  | 'renew'
  | 'progress'
  | 'hold'
  | 'settle'
  | 'sweep'
  | 'cancel'
  | 'retry'
  | 'cleanup'
  | 'hand';

/** DESIGN.md, section 4: the states and who may move them. */
const MOVES: Record<Cause, readonly string[]> = {
  enqueue: ['none → pending'],
  claim: ['pending → running'],
  renew: ['running → running'],
  progress: ['running → running'],
  hold: [],
  settle: ['completed', 'none', 'dead', 'cancelled', 'pending'].map((state) => `running → ${state}`),
  sweep: ['running → pending', 'running → dead', 'running → cancelled'],
  cancel: ['pending → cancelled', 'running → running'],
  retry: ['completed → pending', 'cancelled → pending', 'dead → pending'],
  cleanup: ['completed → none', 'cancelled → none', 'dead → none'],
  hand: JOB_STATES.map((state) => `${state} → ${state}`),
};

const ERRORS_KEPT = 10;

export function expectSound(table: Table): void {
  const keys: string[] = [];
  for (const row of table.values()) {
    const isRunning = row.state === 'running';
    const claim = [row.claimToken, row.lockUntil, row.retryDelayMs];
    expect(
      claim.every((value) => (value !== null) === isRunning),
      `${row.id} is running exactly if it is claimed`,
    ).toBe(true);
    const isUnfinished = isRunning || row.state === 'pending';
    expect(row.finishedAt === null, `${row.id} has its end exactly if it is finished`).toBe(isUnfinished);
    expect(row.attempts, 'attempts that are charged are claims').toBeLessThanOrEqual(row.claims);
    expect(row.attempts).toBeGreaterThanOrEqual(0);
    expect(row.crashes, 'crashes are claims that ended').toBeLessThanOrEqual(row.claims);
    expect(row.errors.length).toBeLessThanOrEqual(ERRORS_KEPT);
    if (isUnfinished && row.dedupeKey !== null) keys.push(`${row.type} ${row.dedupeKey}`);
  }
  expect(new Set(keys).size, 'no two unfinished jobs of a type have one key').toBe(keys.length);
}

export function expectLawful(before: Table, after: Table, cause: Cause): void {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [before.get(id), after.get(id)];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    const move = `${from?.state ?? 'none'} → ${to?.state ?? 'none'}`;
    expect(MOVES[cause], `${cause} of ${id}`).toContain(move);
    if (from && to && cause !== 'hand') expectOneLife(from, to, cause);
  }
}

/** What a change may do to the columns that only grow, or never change. */
function expectOneLife(from: Row, to: Row, cause: Cause): void {
  for (const column of [
    'type',
    'payload',
    'priority',
    'maxAttempts',
    'maxCrashes',
    'dedupeKey',
    'createdAt',
  ] as const) {
    expect(to[column], `${column} stays as it was enqueued`).toEqual(from[column]);
  }
  const charged = to.attempts - from.attempts;
  expect(to.claims - from.claims, 'claims grow by claims alone').toBe(cause === 'claim' ? 1 : 0);
  if (cause === 'claim') expect(charged).toBe(1);
  else if (cause === 'retry') expect(to.attempts).toBe(0);
  else if (cause === 'settle')
    expect([0, -1], 'a settlement gives back one attempt at most').toContain(charged);
  else expect(charged).toBe(0);
  if (cause !== 'retry') {
    expect(to.crashes - from.crashes, 'crashes are counted by the sweep').toBe(cause === 'sweep' ? 1 : 0);
  }
  if (from.claimToken !== null && to.claimToken !== null) {
    expect(to.claimToken, 'a claim keeps its token').toBe(from.claimToken);
  }
  const added = to.errors.at(-1);
  const kept = [from.errors, [...from.errors, added].slice(-ERRORS_KEPT)];
  expect(kept, 'no error is lost but the oldest of more than ten').toContainEqual(to.errors);
}
