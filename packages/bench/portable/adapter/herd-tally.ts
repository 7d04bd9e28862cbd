/** What became of herd jobs: how many were laid up and begun by this replica, and how late, since the beginning. */
import { createHistogram } from 'node:perf_hooks';

export class HerdTally {
  enqueued = 0;
  begun = 0;
  early = 0;
  /** How long the last herd took to lay up; undefined while one is being laid up, or before the first. */
  preloadS: number | undefined;
  /** Microseconds, up to a day. */
  readonly #lateness = createHistogram({ lowest: 1, highest: 86_400_000_000, figures: 3 });

  started(latenessMs: number): void {
    this.begun += 1;
    if (latenessMs < 0) this.early += 1;
    this.#lateness.record(Math.max(1, Math.round(latenessMs * 1_000)));
  }

  latenessMs(): { p50: number; p95: number; p99: number; max: number } {
    const at = (percent: number) => this.#lateness.percentile(percent) / 1_000;
    return { p50: at(50), p95: at(95), p99: at(99), max: this.#lateness.max / 1_000 };
  }
}
