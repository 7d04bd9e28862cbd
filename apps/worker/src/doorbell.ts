/**
 * What the poll loop sleeps on: a wake-up, a freed slot, the drain. A ring that comes while nobody waits is kept
 * until it is answered.
 */
import type { Clock } from './clock.ts';

export class Doorbell {
  #rung = false;
  readonly #waiting = new Set<() => void>();

  /** Wakes whoever waits. */
  ring(): void {
    this.#rung = true;
    for (const wake of this.#waiting) wake();
  }

  /** Forgets earlier rings: to be called before the look that answers them. */
  answer(): void {
    this.#rung = false;
  }

  /** True as soon as it rings, or has rung since it was last answered; false after so many milliseconds. */
  wait(clock: Clock, ms: number): Promise<boolean> {
    if (this.#rung) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (rung: boolean) => {
        cancel();
        this.#waiting.delete(wake);
        resolve(rung);
      };
      const wake = () => end(true);
      const cancel = clock.after(ms, () => end(false));
      this.#waiting.add(wake);
    });
  }
}
