/** The ticks: at whole multiples of the cadence by the wall clock, so that the samples of all systems line up. */
import { rest } from './rest.ts';

export interface SamplerOptions {
  readonly everyS: number;
  readonly signal: AbortSignal;
  /** @param elapsedS since the tick before this one. */
  sample(at: Date, elapsedS: number): Promise<void>;
}

/** Until `signal` aborts; then once more, for what was left. Ticks that were missed are left out. */
export async function sampleOnTicks({ everyS, signal, sample }: SamplerOptions): Promise<void> {
  const periodMs = everyS * 1_000;
  let last = performance.now();
  let boundary = boundaryAfter(Date.now(), periodMs);
  while (!signal.aborted) {
    await restUntil(boundary, signal);
    const now = performance.now();
    const elapsedS = Math.max(now - last, 1) / 1_000;
    last = now;
    await sample(new Date(), elapsedS);
    boundary = Math.max(boundary + periodMs, boundaryAfter(Date.now(), periodMs));
  }
}

/** A timer may ring a moment early by the wall clock: that sample would bear the stamp of the tick before its own. */
async function restUntil(boundary: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && Date.now() < boundary) await rest(boundary - Date.now(), signal);
}

function boundaryAfter(ms: number, periodMs: number): number {
  return (Math.floor(ms / periodMs) + 1) * periodMs;
}
