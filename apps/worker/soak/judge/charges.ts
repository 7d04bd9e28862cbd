/** A run that was handed back, or that asked for a later time, is charged no attempt: what was logged, the table shows. */
import { claimKey, claimsOf } from './claims.ts';
import type { Evidence, Violation } from './evidence.ts';

const UNCHARGED = ['job handed back', 'job snoozed'];

export function judgeCharges({ processes, moves }: Evidence): Violation[] {
  const settlements = claimsOf(moves);
  return processes.flatMap(({ name, lines }) =>
    lines
      .filter(({ msg }) => UNCHARGED.includes(String(msg)))
      .filter(({ id, claims }) => settlements.get(claimKey(id, claims))?.givenBack === false)
      .map(({ msg, id, claims }) => ({
        rule: 'what is handed back is not charged',
        detail: `${name}: ${String(msg)}, and claim ${String(claims)} of job ${String(id)} was charged`,
      })),
  );
}
