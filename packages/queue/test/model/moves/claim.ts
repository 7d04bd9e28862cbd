/** pending → running, for jobs that are due and whose type is wanted. */
import type { ClaimRequest, Wanted } from '../../../src/store/claim.ts';
import { withRow, type Instant, type Row, type Table } from '../table.ts';
import { inMs, isDue, type Moved } from './move.ts';

/** What chance decided of one claimed row. */
export interface Draw {
  readonly id: string;
  readonly claimToken: string;
  readonly retryDelayMs: number;
}

/** Claims the drawn rows; the report is what is wrong with the draw. */
export function claimMove(
  table: Table,
  now: Instant,
  request: ClaimRequest,
  draws: readonly Draw[],
): Moved<string[]> {
  const report = choiceProblems(table, now, request, new Set(draws.map(({ id }) => id)));
  let after = table;
  for (const draw of draws) {
    const row = table.get(draw.id);
    const want = request.wanted.find(({ type }) => type === row?.type);
    if (!row || !want) continue;
    report.push(...delayProblems(row, want, draw.retryDelayMs));
    after = withRow(after, {
      ...row,
      ...draw,
      state: 'running',
      lockUntil: inMs(now, want.leaseMs),
      attempts: row.attempts + 1,
      claims: row.claims + 1,
      claimedBy: request.workerId,
      claimedAt: now,
      updatedAt: now,
    });
  }
  return { table: after, report };
}

/**
 * Of each type the first ones by level and time. Where more are due than the worker has room for: every type's first job
 * before any type's second, the better level first. Only between equals may chance decide.
 */
function choiceProblems(
  table: Table,
  now: Instant,
  { wanted, capacity }: ClaimRequest,
  chosen: ReadonlySet<string>,
): string[] {
  const ranked = wanted.flatMap((want) =>
    dueOf(table, now, want.type)
      .slice(0, Math.min(want.slots, capacity))
      .map((row, rank) => ({ id: row.id, turn: rank * 4 + row.priority, type: row.type, rank })),
  );
  const problems: string[] = [];
  const taken = ranked.filter(({ id }) => chosen.has(id));
  if (taken.length !== chosen.size)
    problems.push('a row was claimed that is not due, not wanted, or too many');
  const turns = ranked.map(({ turn }) => turn).sort((a, b) => a - b);
  const expected = turns.slice(0, capacity);
  const found = taken.map(({ turn }) => turn).sort((a, b) => a - b);
  if (String(found) !== String(expected)) problems.push(`turns ${found.join()}, not ${expected.join()}`);
  for (const { type, rank } of taken) {
    const ahead = taken.filter((other) => other.type === type && other.rank < rank).length;
    if (ahead !== rank) problems.push(`a job of ${type} was claimed before one that was due before it`);
  }
  return problems;
}

function dueOf(table: Table, now: Instant, type: string): Row[] {
  const due = [...table.values()].filter((row) => row.type === type && isDue(row, now));
  return due.sort((a, b) => a.priority - b.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1));
}

/** `base * 2^attempts so far`, at most `max`, of which a random half to whole. */
function delayProblems(row: Row, { retry }: Wanted, delayMs: number): string[] {
  const whole = Math.min(retry.maxMs, retry.baseMs * 2 ** row.attempts);
  if (delayMs >= Math.floor(whole / 2) && delayMs <= Math.ceil(whole)) return [];
  return [`a retry delay of ${delayMs} ms after ${row.attempts} attempts, not ${whole / 2} to ${whole}`];
}
