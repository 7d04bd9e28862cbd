/** The four phases of a scenario, and what the samples of each come to. */
import type { AdapterRecord } from './replica.ts';

export const PHASES = ['warmup', 'baseline', 'fault', 'recovery'] as const;
export type PhaseName = (typeof PHASES)[number];

/** Of the whole: what each phase gets. */
const SHARES: Readonly<Record<PhaseName, number>> = {
  warmup: 0.15,
  baseline: 0.25,
  fault: 0.3,
  recovery: 0.3,
};

/** Milliseconds since 1970. */
export interface Phase {
  readonly name: PhaseName;
  readonly from: number;
  readonly to: number;
}

export function secondsOf(phase: PhaseName, seconds: number): number {
  return seconds * SHARES[phase];
}

/** One value of one replica for one tick. */
export interface Sample {
  readonly metric: string;
  readonly value: number;
  readonly windowS: number;
  /** The end of its window. */
  readonly at: number;
}

export function readSample({ kind, metric, value, window_s, t }: AdapterRecord): Sample | undefined {
  if (kind !== 'adapter') return undefined;
  return {
    metric: String(metric),
    value: Number(value),
    windowS: Number(window_s),
    at: Date.parse(String(t)),
  };
}

/**
 * Jobs a second at each tick whose window lies within the phase, all replicas together: what the harness takes the median
 * of.
 */
export function ratesIn({ from, to }: Phase, metric: string, samples: readonly Sample[]): number[] {
  const byTick = new Map<number, number>();
  for (const sample of samples) {
    const isWithin = sample.at - sample.windowS * 1_000 >= from && sample.at <= to;
    if (sample.metric !== metric || !isWithin) continue;
    const tick = Math.round(sample.at / 1_000);
    byTick.set(tick, (byTick.get(tick) ?? 0) + sample.value);
  }
  return [...byTick.values()];
}

/**
 * Jobs a second over the whole phase: a median would hide an outage of less than half of it. A replica that is away has
 * no samples, and has completed nothing.
 */
export function meanIn({ from, to }: Phase, metric: string, samples: readonly Sample[]): number {
  const within = samples.filter(({ at }) => at > from && at <= to);
  return totalOf(metric, within) / ((to - from) / 1_000);
}

/** How many the samples speak of, all together. */
export function totalOf(metric: string, samples: readonly Sample[]): number {
  const counts = samples.filter((sample) => sample.metric === metric);
  return Math.round(counts.reduce((sum, { value, windowS }) => sum + value * windowS, 0));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
