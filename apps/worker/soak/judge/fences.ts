/**
 * No fenced write passes silently. What a worker logged is held against three others' word: against what its handlers
 * met, against the table, which shows every settlement that was written, and against what its own metrics counted.
 */
import { nameOf } from '@fencepost/queue/protocol';
import type { LogLine } from '@fencepost/testing';
import { CLAIM_WAS_LOST, COUNTED, RUN_ENDED } from '../messages.ts';
import { claimKey, claimsOf, type Claim, type Claims } from './claims.ts';
import type { Evidence, ProcessEvidence, Violation } from './evidence.ts';

const FENCED = 'fenced write: this claim no longer owns the row';
const ABANDONED = 'settlement not written, left to the sweep';
const COMPLETED = 'job completed';
const LEFT_BY_DRAIN = 'drain could not hand back every claim, left to the sweep';

const RULE = 'every fenced write is logged';

export interface JudgedFences {
  readonly violations: readonly Violation[];
  /** Log lines by the write that was refused. */
  readonly fenced: Readonly<Record<string, number>>;
}

export function judgeFences({ processes, moves, gone }: Evidence): JudgedFences {
  const violations: Violation[] = [];
  const fenced: Record<string, number> = {};
  const claims = claimsOf(moves);
  for (const process of processes) {
    const lines = process.lines.filter(({ msg }) => msg === FENCED);
    for (const { op } of lines) fenced[String(op)] = (fenced[String(op)] ?? 0) + 1;
    violations.push(
      ...unloggedLosses(process, lines, claims),
      ...silentEndings(process, claims, gone),
      ...leftBehind(process, claims, gone),
      ...miscounts(process, lines),
    );
  }
  return { violations, fenced };
}

/** A handler met a `ClaimLostError`, and the worker says nothing of that write. */
function unloggedLosses(
  { name, lines }: ProcessEvidence,
  fenced: readonly LogLine[],
  claims: Claims,
): Violation[] {
  return lines
    .filter(({ msg }) => msg === CLAIM_WAS_LOST)
    .filter(({ id, fence, op }) => {
      const token = claims.get(claimKey(id, fence))?.token;
      const isOfIt = (line: LogLine) => line['id'] === id && line['claimToken'] === token;
      return !fenced.some((line) => line['op'] === op && isOfIt(line));
    })
    .map(({ id, fence, op }) => ({
      rule: RULE,
      detail: `${name}: ${String(op)} by claim ${String(fence)} of job ${String(id)} was refused, and nothing says so`,
    }));
}

/** A handler ended, its settlement is not in the table, and its worker, which had the time, says nothing of that. */
function silentEndings(process: ProcessEvidence, claims: Claims, gone: Evidence['gone']): Violation[] {
  if (process.exit.code === null) return [];
  const isSpokenOf = spokenOf(process, gone);
  return process.lines
    .filter(({ msg }) => msg === RUN_ENDED)
    .filter(({ id, fence }) => {
      const claim = claims.get(claimKey(id, fence));
      return !claim || !(claim.settled || isSpokenOf(claim));
    })
    .map(({ id, fence }) => ({
      rule: RULE,
      detail: `${process.name}: claim ${String(fence)} of job ${String(id)} ended unsettled, and nothing says so`,
    }));
}

/** A worker drained, and a claim that it had been given was neither settled nor spoken of. */
function leftBehind(process: ProcessEvidence, claims: Claims, gone: Evidence['gone']): Violation[] {
  const { name, exit, lines } = process;
  const claimsFailed = lines.find(({ msg }) => msg === COUNTED)?.['claimsFailed'];
  // Of a claim whose answer was lost it knows nothing.
  if (exit.code === null || claimsFailed !== 0) return [];
  const isSpokenOf = spokenOf(process, gone);
  return [...claims.values()]
    .filter((claim) => claim.claimedBy === name && !claim.settled && !isSpokenOf(claim))
    .map(({ job, number }) => ({
      rule: 'a worker that drained leaves no claim behind',
      detail: `${name}: claim ${number} of job ${job}`,
    }));
}

/**
 * Of a job that is gone, a claim that was lost may say that it completed the job: whether it was this one or a later one,
 * it cannot know.
 */
function spokenOf({ lines }: ProcessEvidence, gone: Evidence['gone']): (claim: Claim) => boolean {
  const fenced = new Set<string>();
  const saidCompleted = new Set<string>();
  const left = new Set<unknown>();
  for (const { msg, claimToken, ids, id, claims } of lines) {
    if (msg === COMPLETED && gone.has(String(id))) saidCompleted.add(claimKey(id, claims));
    if (msg === FENCED || msg === ABANDONED)
      fenced.add(nameOf({ id: String(id), claimToken: String(claimToken) }));
    if (msg === LEFT_BY_DRAIN) (ids as string[]).forEach((job) => left.add(job));
  }
  return ({ token, job, number }) =>
    fenced.has(nameOf({ id: job, claimToken: token })) ||
    left.has(job) ||
    saidCompleted.has(claimKey(job, number));
}

function miscounts({ name, lines }: ProcessEvidence, fenced: readonly LogLine[]): Violation[] {
  const counted = lines.find(({ msg }) => msg === COUNTED)?.['fenced'] as Record<string, number> | undefined;
  return Object.entries(counted ?? {}).flatMap(([op, count]) => {
    const logged = fenced.filter((line) => line['op'] === op).length;
    return logged === count
      ? []
      : [{ rule: RULE, detail: `${name}: ${count} ${op} counted, ${logged} logged` }];
  });
}
