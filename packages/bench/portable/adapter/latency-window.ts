/**
 * Latencies of the last thirty seconds. The memory is bounded, as the contract wants it: HDR histograms of three
 * significant figures, one for each three seconds, added up when a sample is due.
 */
import { createHistogram } from 'node:perf_hooks';

export const WINDOW_S = 30;
const SLICE_MS = 3_000;
const SLICES = (WINDOW_S * 1_000) / SLICE_MS;
/** Microseconds, up to an hour. */
const HISTOGRAM = { lowest: 1, highest: 3_600_000_000, figures: 3 };

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export class LatencyWindow {
  readonly #now: () => number;
  readonly #slices = Array.from({ length: SLICES }, () => ({
    turn: -1,
    histogram: createHistogram(HISTOGRAM),
  }));
  readonly #total = createHistogram(HISTOGRAM);

  /** @param now monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  record(ms: number): void {
    const turn = this.#turn();
    const slice = this.#slices[turn % SLICES]!;
    if (slice.turn !== turn) {
      slice.turn = turn;
      slice.histogram.reset();
    }
    slice.histogram.record(microseconds(ms));
  }

  /** All of them 0 while there is nothing in the window. */
  percentiles(): Percentiles {
    const oldest = this.#turn() - SLICES;
    this.#total.reset();
    for (const { turn, histogram } of this.#slices) if (turn > oldest) this.#total.add(histogram);
    if (this.#total.count === 0) return { p50: 0, p95: 0, p99: 0 };
    const at = (percent: number) => this.#total.percentile(percent) / 1_000;
    return { p50: at(50), p95: at(95), p99: at(99) };
  }

  #turn(): number {
    return Math.floor(this.#now() / SLICE_MS);
  }
}

/** A histogram takes whole numbers from 1. */
function microseconds(ms: number): number {
  return Math.min(HISTOGRAM.highest, Math.max(1, Math.round(ms * 1_000)));
}
