/**
 * Which of many like events get a line in the log: the first of each kind, and then one after 5, 10, 20 … seconds, a
 * minute at most. So a fault that lasts all night neither fills the log nor disappears from it. After a minute without
 * one, the next is a first again.
 */
import type { Clock } from './clock.ts';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export class SparseLines {
  readonly #clock: Clock;
  readonly #kinds = new Set<string>();
  #lastAt = Number.NEGATIVE_INFINITY;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;
  #untold = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It has happened again: how often since the last line, if it is to get one. */
  next(kind: string): number | undefined {
    const now = this.#clock.now();
    if (now - this.#lastAt > LONGEST_PAUSE_MS) this.#beginAnew();
    this.#lastAt = now;
    this.#untold++;
    const isDue = now >= this.#quietUntil;
    if (!isDue && this.#kinds.has(kind)) return undefined;
    this.#kinds.add(kind);
    if (isDue) {
      this.#quietUntil = now + this.#pauseMs;
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    }
    const times = this.#untold;
    this.#untold = 0;
    return times;
  }

  #beginAnew(): void {
    this.#kinds.clear();
    this.#quietUntil = Number.NEGATIVE_INFINITY;
    this.#pauseMs = FIRST_PAUSE_MS;
  }
}
