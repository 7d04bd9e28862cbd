/** Every claim that there was, from the table's own account, and whether its run's outcome was written. */
import type { Move } from './evidence.ts';
import { kindOf } from './moves.ts';

export interface Claim {
  readonly job: string;
  readonly number: number;
  readonly token: string;
  readonly claimedBy: string | null;
  /** Its token was taken off the row by a settlement, not by the sweep. */
  settled: boolean;
  /** By that settlement. */
  givenBack: boolean;
}

/** By job and number. */
export type Claims = ReadonlyMap<string, Claim>;

export function claimKey(job: unknown, number: unknown): string {
  return `${String(job)} ${String(number)}`;
}

export function claimsOf(moves: readonly Move[]): Claims {
  const claims = new Map<string, Claim>();
  for (const move of moves) {
    const { job, claims: number, tokenAfter, claimedBy } = move;
    const kind = kindOf(move);
    if (kind === 'claim') {
      const open = { settled: false, givenBack: false };
      claims.set(claimKey(job, number), { job, number, token: tokenAfter!, claimedBy, ...open });
    }
    const claim = claims.get(claimKey(job, number));
    if (kind !== 'settle' || !claim) continue;
    claim.settled = true;
    claim.givenBack = move.attemptsAfter < move.attemptsBefore;
  }
  return claims;
}
