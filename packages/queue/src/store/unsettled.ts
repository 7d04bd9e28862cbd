/** Reads what a settling statement said of the rows that it did not change. */
import type { Fence, Unsettled } from './fence.ts';

export interface UnsettledRow {
  readonly id: string;
  /** The token of the row as the statement saw it; null if it was not running, or not there. */
  readonly tokenSeen: string | null;
}

export function splitUnsettled(asked: readonly Fence[], rows: readonly UnsettledRow[]): Unsettled {
  if (rows.length === 0) return { lost: [], locked: [] };
  const tokens = new Map(asked.map(({ id, claimToken }) => [id, claimToken]));
  const lost: Fence[] = [];
  const locked: Fence[] = [];
  for (const { id, tokenSeen } of rows) {
    const claimToken = tokens.get(id);
    if (claimToken === undefined) continue;
    (claimToken === tokenSeen ? locked : lost).push({ id, claimToken });
  }
  return { lost, locked };
}
