/** Holds what the parties wrote down against each other. Pure: evidence in, verdict out. */
import { judgeCharges } from './judge/charges.ts';
import { judgeEffects } from './judge/effects.ts';
import type { Evidence, Violation } from './judge/evidence.ts';
import { judgeFences } from './judge/fences.ts';
import { judgeJobs } from './judge/jobs.ts';
import { judgeMoves, kindOf, type MoveKind } from './judge/moves.ts';
import { judgeProcesses, type Ending } from './judge/processes.ts';

export interface Verdict {
  /** Empty is as it must be. */
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

export interface Counts {
  readonly committed: number;
  readonly rolledBack: number;
  readonly unknown: number;
  /** Of the unknown. */
  readonly foundCommitted: number;
  readonly behaviours: Readonly<Record<string, number>>;
  readonly moves: Readonly<Record<MoveKind, number>>;
  readonly fenced: Readonly<Record<string, number>>;
  readonly states: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly completions: number;
  readonly duplicated: number;
  readonly started: number;
  readonly endings: Readonly<Record<Ending, number>>;
}

export function judge(evidence: Evidence): Verdict {
  const jobs = judgeJobs(evidence);
  const effects = judgeEffects(evidence);
  const fences = judgeFences(evidence);
  const processes = judgeProcesses(evidence.processes);
  const fates = countBy(evidence.ledger, ({ fate }) => fate);
  return {
    violations: [
      ...jobs.violations,
      ...judgeMoves(evidence.moves),
      ...judgeCharges(evidence),
      ...effects.violations,
      ...fences.violations,
      ...processes.violations,
    ],
    counts: {
      committed: fates['committed'] ?? 0,
      rolledBack: fates['rolled back'] ?? 0,
      unknown: fates['unknown'] ?? 0,
      foundCommitted: jobs.foundCommitted,
      behaviours: countBy(evidence.ledger, ({ behaviour }) => behaviour),
      moves: {
        ...{ claim: 0, settle: 0, reclaim: 0, cancel: 0, retry: 0, 'none of the protocol': 0 },
        ...countBy(evidence.moves, kindOf),
      },
      fenced: fences.fenced,
      states: countBy(evidence.jobs, ({ state }) => state),
      lost: jobs.lost.length,
      completions: effects.completions,
      duplicated: effects.duplicated,
      started: evidence.processes.length,
      endings: processes.endings,
    },
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
