/** Evidence of a soak in which everything went as it must, to be altered by a test that wants something to be found. */
import type { LogLine } from '@fencepost/testing';
import { judge } from '../../soak/judge.ts';
import type { Evidence, JobEvidence, Move, ProcessEvidence } from '../../soak/judge/evidence.ts';

/** Completed by the first worker, in its handler's transaction. */
export const COMPLETED = 'job-completed';
/** Claimed by the first worker, which froze, swept, and completed by the second. */
export const RECLAIMED = 'job-reclaimed';
export const DOOMED = 'job-doomed';
export const CANCELLED = 'job-cancelled';
export const PLAIN = 'job-plain';

export function flawless(): Evidence {
  return {
    ledger: [
      { id: COMPLETED, behaviour: 'effect', fate: 'committed' },
      { id: RECLAIMED, behaviour: 'long', fate: 'unknown' },
      { id: DOOMED, behaviour: 'doomed', fate: 'committed' },
      { id: CANCELLED, behaviour: 'effect', fate: 'committed' },
      { id: PLAIN, behaviour: 'plain', fate: 'committed' },
      { id: 'job-rolled-back', behaviour: 'effect', fate: 'rolled back' },
      { id: 'job-unknown', behaviour: 'effect', fate: 'unknown' },
    ],
    cancelsAsked: new Set([CANCELLED]),
    jobs: [
      job(COMPLETED),
      job(RECLAIMED, { claims: 2, attempts: 2 }),
      job(DOOMED, { state: 'dead', claims: 3, attempts: 3, maxAttempts: 3 }),
      job(CANCELLED, { state: 'cancelled', claims: 0, attempts: 0, claimedBy: null }),
      job(PLAIN),
    ],
    gone: new Set(),
    orders: new Set([COMPLETED, RECLAIMED, DOOMED, CANCELLED, PLAIN]),
    effects: [
      { job: COMPLETED, fence: 1 },
      { job: RECLAIMED, fence: 2 },
    ],
    outside: [{ job: PLAIN, fence: 1 }],
    moves: [
      claim(COMPLETED, 1, 'one'),
      claim(RECLAIMED, 1, 'one'),
      settle(COMPLETED, 1, 'one', { by: 'one handlers' }),
      reclaim(RECLAIMED, 1, 'one'),
      claim(RECLAIMED, 2, 'two'),
      settle(RECLAIMED, 2, 'two', { by: 'two handlers' }),
      ...[1, 2, 3].flatMap((number) => [
        claim(DOOMED, number, 'two'),
        settle(DOOMED, number, 'two', { stateAfter: number === 3 ? 'dead' : 'pending' }),
      ]),
      move(CANCELLED, { stateBefore: 'pending', stateAfter: 'cancelled', by: 'soak enqueuer' }),
      claim(PLAIN, 1, 'two'),
      settle(PLAIN, 1, 'two'),
    ],
    processes: [
      worker('one', [
        ended(COMPLETED, 1),
        { level: 30, msg: 'soak: claim was lost', id: RECLAIMED, fence: 1, op: 'complete' },
        fenced('complete', RECLAIMED, 1),
        ended(RECLAIMED, 1),
        fenced('settle', RECLAIMED, 1),
        { level: 30, msg: 'soak: counted', claimsFailed: 0, fenced: { complete: 1, settle: 1, renew: 0 } },
      ]),
      worker('two', [
        ended(RECLAIMED, 2),
        ended(DOOMED, 3),
        { level: 30, msg: 'soak: counted', claimsFailed: 0, fenced: { complete: 0, settle: 0, renew: 0 } },
      ]),
      { name: 'three', sent: ['SIGSTOP', 'SIGKILL'], exit: { code: null, signal: 'SIGKILL' }, lines: [] },
    ],
  };
}

/** What is found when the flawless evidence is altered: `rule: detail`. */
export function findingsOf(alter: (evidence: Evidence) => Partial<Evidence>): string[] {
  const evidence = flawless();
  const { violations } = judge({ ...evidence, ...alter(evidence) });
  return violations.map(({ rule, detail }) => `${rule}: ${detail}`);
}

export function job(id: string, changes: Partial<JobEvidence> = {}): JobEvidence {
  const asClaimedOnce = { attempts: 1, maxAttempts: 1_000, claims: 1, claimedBy: 'one', lastError: null };
  return { id, state: 'completed', ...asClaimedOnce, ...changes };
}

export function claim(id: string, number: number, by: string, changes: Partial<Move> = {}): Move {
  return move(id, {
    ...{ stateBefore: 'pending', stateAfter: 'running', tokenAfter: token(id, number) },
    ...{
      attemptsBefore: number - 1,
      attemptsAfter: number,
      claims: number,
      claimedBy: by,
      by: `${by} queue`,
    },
    ...changes,
  });
}

function settle(id: string, number: number, by: string, changes: Partial<Move> = {}): Move {
  return move(id, {
    ...{ stateBefore: 'running', stateAfter: 'completed', tokenBefore: token(id, number) },
    ...{ attemptsBefore: number, attemptsAfter: number, claims: number, claimedBy: by, by: `${by} queue` },
    ...changes,
  });
}

function reclaim(id: string, number: number, from: string, changes: Partial<Move> = {}): Move {
  return settle(id, number, from, { stateAfter: 'pending', crashed: true, by: 'two queue', ...changes });
}

export function move(id: string, changes: Partial<Move>): Move {
  return {
    ...{ job: id, stateBefore: 'pending', stateAfter: 'running', tokenBefore: null, tokenAfter: null },
    ...{ attemptsBefore: 0, attemptsAfter: 0, claims: 0, crashed: false, early: false },
    ...{ claimedBy: null, by: 'somebody', tx: changes.tokenAfter ?? 'a transaction' },
    ...changes,
  };
}

export function worker(name: string, lines: LogLine[]): ProcessEvidence {
  return { name, sent: ['SIGTERM'], exit: { code: 0, signal: null }, lines };
}

export function ended(id: string, fence: number): LogLine {
  return { level: 30, msg: 'soak: run ended', id, fence };
}

function fenced(op: string, id: string, number: number): LogLine {
  const msg = 'fenced write: this claim no longer owns the row';
  return { level: 40, msg, op, id, claimToken: token(id, number) };
}

/** The first worker's two jobs came with one claim. */
export function token(id: string, number: number): string {
  return `token ${number} of ${[COMPLETED, RECLAIMED].includes(id) && number === 1 ? 'both' : id}`;
}
