/**
 * How long an idle worker sleeps between two looks: short at first, because a wake-up stands for more than one commit
 * (only one transaction in flight carries it, and the others become visible within the next milliseconds), then up to
 * the poll interval, the net under the wake-ups.
 */
const STEPS_MS = [5, 20, 50, 200, 1_000];

/** Without LISTEN the poll is all there is, and its interval is how long a job waits. */
export const POLL_WITHOUT_LISTEN_MS = 500;

export class IdleLadder {
  #step = 0;
  readonly #maxMs: () => number;
  readonly #random: () => number;

  constructor(maxMs: () => number, random = Math.random) {
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Up to a quarter less than the step, so that a fleet does not look in step. */
  next(): number {
    const ms = Math.min(STEPS_MS[this.#step++] ?? this.#maxMs(), this.#maxMs());
    return ms * (1 - this.#random() / 4);
  }

  reset(): void {
    this.#step = 0;
  }
}
