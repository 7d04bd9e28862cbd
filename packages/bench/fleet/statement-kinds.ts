/** Which statement of the queue a text of `pg_stat_statements` is, by what only that one has in it. */

const MARKS = {
  claim: '"chosen" AS MATERIALIZED',
  survey: '"latest" AS (',
  renew: '"renewed" AS (',
  complete: '"completed" AS (',
  settle: '"settled" AS (',
  sweep: '"reclaimed" AS (',
  cleanup: 'DELETE FROM "job_queue"',
  backlog: 'AS "scheduled"',
  vacuum: 'AS "holder"',
  enqueue: 'INSERT INTO "job_queue"',
  heartbeat: 'SELECT $1',
} as const;

export const STATEMENT_KINDS = [...(Object.keys(MARKS) as (keyof typeof MARKS)[]), 'other'] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

export function kindOf(text: string): StatementKind {
  for (const kind of STATEMENT_KINDS) {
    if (kind === 'other') break;
    const isIt = kind === 'heartbeat' ? text.trim() === MARKS.heartbeat : text.includes(MARKS[kind]);
    if (isIt) return kind;
  }
  return 'other';
}
