/** The best point of each system's grid: every point drains once before anything is measured, and the fastest stays. */
import type { Bench } from './bench.ts';
import { drainOnce } from './measurements/drain.ts';
import { shareOf } from './measurements/measurement.ts';
import { findContestant, type Contestant } from './systems/index.ts';

export interface GridPoint {
  readonly name: string;
  readonly jobsPerSecond: number;
}

/** The systems without a grid as they are, the others at their best; and what every point came to. */
export async function atTheirBest(
  bench: Bench,
  contestants: readonly Contestant[],
  onPoint: (point: GridPoint) => void,
): Promise<Contestant[]> {
  const chosen: Contestant[] = [];
  for (const contestant of contestants) {
    if (contestant.grid.length === 0) {
      chosen.push(contestant);
      continue;
    }
    let best: GridPoint | undefined;
    for (const point of contestant.grid) {
      const name = `${contestant.name}:${point}`;
      const jobs = shareOf(contestant, bench.options.jobs);
      const settings = { jobs, processes: 1, payloadBytes: 0, handlerMs: 0 };
      const measured = { name, jobsPerSecond: await drainOnce(bench, pointNamed(name), settings) };
      onPoint(measured);
      if (best === undefined || measured.jobsPerSecond > best.jobsPerSecond) best = measured;
    }
    if (best) chosen.push(pointNamed(best.name));
  }
  return chosen;
}

function pointNamed(name: string): Contestant {
  const contestant = findContestant(name);
  if (contestant === undefined) throw new Error(`no point "${name}"`);
  return contestant;
}
