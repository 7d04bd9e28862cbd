/** What a scenario comes to, and whether that is what it must be. */
import type { Ending } from './replicas.ts';

export type ScenarioResult = Measured | Failed;

/** It could not be run to its end. */
export interface Failed {
  readonly outcome: 'failed';
  readonly scenario: string;
  readonly why: string;
}

/** Jobs a second are settled completions, as the samples tell them. */
export interface Measured {
  readonly outcome: 'measured';
  readonly scenario: string;
  /** Medians over ticks of a second, as the harness takes them. */
  readonly baseline: number;
  /** The mean over the phase. Undefined where there is no fault. */
  readonly during: number | undefined;
  readonly recovered: number | undefined;
  /** Answered enqueues that have no row, and rows that never completed. */
  readonly lost: number;
  /** Jobs that waited when the replicas were told to end. */
  readonly pressure: number;
  readonly endings: readonly Ending[];
  /** Claims of replicas that were told to end, and have ended; those of killed ones wait for their leases. */
  readonly leftRunning: number;
}

/** The contract's: from the signal to the exit. */
const ENDS_WITHIN_MS = 5_000;
const RECOVERS_TO = 0.95;

export function ratioOf({ baseline, recovered }: Measured): number | undefined {
  return recovered === undefined ? undefined : recovered / baseline;
}

/** What is not as it must be; nothing, if all is well. */
export function faultsOf(result: ScenarioResult): string[] {
  if (result.outcome === 'failed') return [result.why];
  const ratio = ratioOf(result);
  const faults: string[] = [];
  if (ratio !== undefined && !(ratio >= RECOVERS_TO)) faults.push(`recovered to ${ratio.toFixed(2)} only`);
  if (result.lost > 0) faults.push(`${result.lost} jobs lost`);
  if (result.leftRunning > 0) faults.push(`${result.leftRunning} jobs not handed back at the end`);
  for (const { code, signal, ms } of result.endings) {
    if (code !== 0) faults.push(`ended with ${signal ?? code}`);
    if (ms > ENDS_WITHIN_MS) faults.push(`took ${ms} ms to end`);
  }
  return faults;
}
