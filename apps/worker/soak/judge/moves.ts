/** How the state machine may be moved, and by whom: every move of every job is walked. */
import type { Move, Violation } from './evidence.ts';

export type MoveKind = 'claim' | 'settle' | 'reclaim' | 'cancel' | 'retry' | 'none of the protocol';

const FINAL = ['completed', 'cancelled', 'dead'];

export function kindOf(move: Move): MoveKind {
  const { stateBefore, stateAfter, tokenBefore, tokenAfter } = move;
  if (stateBefore === 'pending' && stateAfter === 'running' && tokenAfter !== null) return 'claim';
  if (stateBefore === 'running' && stateAfter !== 'running' && tokenBefore !== null && tokenAfter === null) {
    if (!move.crashed) return 'settle';
    return stateAfter === 'completed' ? 'none of the protocol' : 'reclaim';
  }
  if (stateBefore === 'pending' && stateAfter === 'cancelled') return 'cancel';
  if (FINAL.includes(stateBefore) && stateAfter === 'pending') return 'retry';
  return 'none of the protocol';
}

/** The transaction that each token came with: a claim takes several jobs with one token, and is one of them. */
type Tokens = Map<string, string>;

export function judgeMoves(moves: readonly Move[]): Violation[] {
  const violations: Violation[] = [];
  const last = new Map<string, Move>();
  const tokens: Tokens = new Map();
  for (const move of moves) {
    const problem = problemOf(move, last.get(move.job), tokens);
    if (problem)
      violations.push({ rule: 'a job is moved as the protocol says', detail: `${spell(move)}: ${problem}` });
    last.set(move.job, move);
    if (move.tokenAfter !== null) tokens.set(move.tokenAfter, move.tx);
  }
  return violations;
}

function problemOf(move: Move, before: Move | undefined, tokens: Tokens): string | undefined {
  if (before && (before.stateAfter !== move.stateBefore || before.tokenAfter !== move.tokenBefore)) {
    return `it had been left ${before.stateAfter}`;
  }
  const charged = move.attemptsAfter - move.attemptsBefore;
  const kind = kindOf(move);
  switch (kind) {
    case 'claim':
      if (move.early) return 'it was not due yet';
      if (move.claims !== (before?.claims ?? 0) + 1)
        return `the claim before was number ${before?.claims ?? 0}`;
      if ((tokens.get(move.tokenAfter!) ?? move.tx) !== move.tx) return 'the token was used before';
      if (charged !== 1) return `it charged ${charged} attempts`;
      return undefined;
    case 'settle':
      // The fence: only the process that claimed it may end its claim.
      if (processOf(move.by) !== move.claimedBy) return `the claim was that of ${move.claimedBy}`;
      // Given back, which a cancel request turns into a cancellation. Which settlements give back, the log tells.
      if (charged === -1 && ['pending', 'cancelled'].includes(move.stateAfter)) return undefined;
      if (charged !== 0) return `it charged ${charged} attempts`;
      return undefined;
    case 'reclaim':
      if (move.early) return 'its lease was not over';
      if (charged !== 0) return `it charged ${charged} attempts`;
      return undefined;
    case 'cancel':
      return undefined;
    case 'retry':
      return move.attemptsAfter === 0 ? undefined : `its new life began with ${move.attemptsAfter} attempts`;
    case 'none of the protocol':
      return 'no move of the protocol';
  }
}

/** The first word of what a connection is called. */
function processOf(applicationName: string): string {
  return applicationName.split(' ', 1)[0]!;
}

function spell({ job, stateBefore, stateAfter, claims, by }: Move): string {
  return `job ${job}, ${stateBefore} → ${stateAfter} after ${claims} claims, by "${by}"`;
}
