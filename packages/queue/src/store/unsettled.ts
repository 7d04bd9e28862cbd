/** Reads what a settling statement said of the rows that it did not change. */
import type { Fence, Unsettled } from './fence.ts';

export interface UnsettledRow extends Fence {
  /** The token of the row as the statement saw it; null if it was not running, or not there. */
  readonly tokenSeen: string | null;
}

export function splitUnsettled(rows: readonly UnsettledRow[]): Unsettled {
  const lost: Fence[] = [];
  const locked: Fence[] = [];
  for (const { id, claimToken, tokenSeen } of rows) {
    (claimToken === tokenSeen ? locked : lost).push({ id, claimToken });
  }
  return { lost, locked };
}
