/** What is measured: cases, each run once a repetition for every system that takes part. */
import type { Bench } from '../bench.ts';
import type { Contestant } from '../systems/index.ts';

export interface Case {
  /** Said in the table. */
  readonly title: string;
  /** Systems that it makes no sense for are left out. */
  takesPart(contestant: Contestant): boolean;
  /** What was measured, by the name of the figure. */
  run(bench: Bench, contestant: Contestant): Promise<Record<string, number>>;
}

export interface Measurement {
  /** As `--only` names it. */
  readonly name: string;
  readonly cases: readonly Case[];
}

/** Slow systems get fewer jobs, and never so few that nothing is measured. */
export function shareOf({ share }: Contestant, jobs: number): number {
  return Math.max(100, Math.round(jobs * share));
}
