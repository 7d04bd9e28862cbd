/** What became of every job: none lost, none that nobody committed, each at an end that has a reason. */
import { DOOMED_ATTEMPTS, END_OF } from '../contracts.ts';
import type { LedgerEntry } from '../ledger.ts';
import type { Evidence, JobEvidence, Violation } from './evidence.ts';
import { kindOf } from './moves.ts';

export interface JudgedJobs {
  readonly violations: readonly Violation[];
  /** Committed, and not in the table. */
  readonly lost: readonly string[];
  /** Transactions without an answer that had committed. */
  readonly foundCommitted: number;
}

export function judgeJobs({ ledger, cancelsAsked, jobs, orders, moves }: Evidence): JudgedJobs {
  const violations: Violation[] = [];
  const rows = new Map(jobs.map((job) => [job.id, job]));
  const entries = new Map(ledger.map((entry) => [entry.id, entry]));
  const lost: string[] = [];
  let foundCommitted = 0;

  for (const { id, behaviour, fate } of ledger) {
    const row = rows.get(id);
    if (fate === 'committed' && !row) {
      lost.push(id);
      violations.push({
        rule: 'no committed job is lost',
        detail: `${behaviour} job ${id} is not in the table`,
      });
    }
    if (fate === 'rolled back' && row) {
      violations.push({
        rule: 'a job exists only if its transaction committed',
        detail: `${behaviour} job ${id}`,
      });
    }
    if (fate === 'unknown' && row) foundCommitted++;
    if ((row !== undefined) !== orders.has(id)) {
      const detail = `${behaviour} job ${id} ${row ? 'is there without' : 'is not there beside'} its row of the app`;
      violations.push({ rule: 'job and row of the app commit together', detail });
    }
  }

  const claims = countClaims(moves);
  for (const job of jobs) {
    const entry = entries.get(job.id);
    if (!entry) {
      violations.push({
        rule: 'a job exists only if its transaction committed',
        detail: `nobody knows job ${job.id}`,
      });
      continue;
    }
    const problem = problemOf(job, entry, cancelsAsked);
    if (problem) {
      const detail = `${entry.behaviour} job ${job.id} is ${job.state}: ${problem} (${spell(job)})`;
      violations.push({ rule: 'every job comes to its end', detail });
    }
    if (job.claims !== (claims.get(job.id) ?? 0)) {
      const detail = `job ${job.id} says ${job.claims}, and was claimed ${claims.get(job.id) ?? 0} times`;
      violations.push({ rule: 'claims are counted', detail });
    }
  }
  return { violations, lost, foundCommitted };
}

/** Why the state is not one that the job may be left in. */
function problemOf(
  job: JobEvidence,
  { behaviour }: LedgerEntry,
  cancelsAsked: ReadonlySet<string>,
): string | undefined {
  switch (job.state) {
    case 'completed':
    case 'dead':
      if (job.state !== END_OF[behaviour]) return `expected ${END_OF[behaviour]}`;
      if (behaviour === 'doomed' && job.attempts < DOOMED_ATTEMPTS) return 'given up before its last attempt';
      if (behaviour === 'discards' && !job.lastError?.includes('not worth another try'))
        return 'not by its own wish';
      return undefined;
    case 'cancelled':
      return cancelsAsked.has(job.id) ? undefined : 'nobody asked for that';
    case 'running':
      return 'nobody is left to run it';
    default:
      return 'nothing stands in its way';
  }
}

function countClaims(moves: Evidence['moves']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const move of moves)
    if (kindOf(move) === 'claim') counts.set(move.job, (counts.get(move.job) ?? 0) + 1);
  return counts;
}

function spell({ attempts, maxAttempts, claims, claimedBy, lastError }: JobEvidence): string {
  return `${attempts} of ${maxAttempts} attempts, ${claims} claims, last by ${claimedBy}, last error: ${lastError}`;
}
