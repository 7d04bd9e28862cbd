/**
 * When runs are out of time. Of runs that may take equally long, the first to begin is the first to be out of time, so
 * that one timer does for all of them: next to none of them rings, since most runs end long before.
 */
import type { Timers } from './timers.ts';

export interface Expiring {
  /** Its time is over. Called at most once, and not after `end`. */
  expire(): void;
}

export class Deadlines {
  readonly #timers: Timers;
  readonly #byLength = new Map<number, EqualDeadlines>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** @param ms from now until the run is told, unless it ends before. */
  begin(run: Expiring, ms: number): void {
    let equal = this.#byLength.get(ms);
    if (equal === undefined) this.#byLength.set(ms, (equal = new EqualDeadlines(this.#timers, ms)));
    equal.begin(run);
  }

  /** @param ms as `begin` was told. */
  end(run: Expiring, ms: number): void {
    this.#byLength.get(ms)?.end(run);
  }
}

class EqualDeadlines {
  readonly #timers: Timers;
  readonly #ms: number;
  /** When each began, the first first. */
  readonly #beganAt = new Map<Expiring, number>();
  #cancelTimer: (() => void) | undefined;

  constructor(timers: Timers, ms: number) {
    this.#timers = timers;
    this.#ms = ms;
  }

  begin(run: Expiring): void {
    this.#beganAt.set(run, this.#timers.now());
    if (this.#cancelTimer === undefined) this.#setTimer(this.#ms);
  }

  end(run: Expiring): void {
    this.#beganAt.delete(run);
    if (this.#beganAt.size > 0) return;
    // A timer that is set keeps its process from ending.
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #setTimer(ms: number): void {
    this.#cancelTimer = this.#timers.after(ms, () => this.#expireFirst());
  }

  #expireFirst(): void {
    this.#cancelTimer = undefined;
    const latest = this.#timers.now() - this.#ms;
    const expired: Expiring[] = [];
    for (const [run, beganAt] of this.#beganAt) {
      if (beganAt > latest) {
        // Before anybody is told, who might throw. A timer may also ring a moment early, and then nobody is.
        this.#setTimer(beganAt - latest);
        break;
      }
      expired.push(run);
      this.#beganAt.delete(run);
    }
    for (const run of expired) run.expire();
  }
}
