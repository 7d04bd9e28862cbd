/**
 * What the poll loop sleeps on: a wake-up, a freed slot, the drain. A ring that comes while nobody waits is kept, so
 * that what happens during a claim is not missed by the sleep after it.
 */
import type { Clock } from './clock.ts';

export class Doorbell {
  #rung = false;
  #answer: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#answer?.();
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
        this.#answer = undefined;
        resolve(rung);
      };
      const cancel = clock.after(ms, () => end(false));
      this.#answer = () => end(true);
    });
  }
}
