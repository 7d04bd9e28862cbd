/**
 * Something done again and again, never twice at once. What it throws is its own affair: it is done again all the same,
 * and no sooner than a backoff has it, however short its interval is.
 */
import { createBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import { Doorbell } from './doorbell.ts';

export class RepeatedTask {
  readonly #clock: Clock;
  readonly #intervalMs: () => number;
  readonly #work: () => Promise<void>;
  readonly #bell = new Doorbell();
  #stopping = false;
  #succeededAt: number;
  #finished: Promise<void> = Promise.resolve();

  /**
   * @param intervalMs asked anew for each pause, so that it may be jittered.
   * @param work logs its own errors.
   */
  constructor(clock: Clock, intervalMs: () => number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#work = work;
    this.#succeededAt = clock.now();
  }

  /** The first time at once. */
  start(): void {
    this.#finished = this.#run();
  }

  /** Ends the pause before the next time. */
  now(): void {
    this.#bell.ring();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#bell.ring();
    await this.#finished;
  }

  sinceSuccessMs(): number {
    return this.#clock.now() - this.#succeededAt;
  }

  async #run(): Promise<void> {
    const backoff = createBackoff({ firstMs: 250, maxMs: 10_000 });
    while (!this.#stopping) {
      this.#bell.answer();
      const leastMs = await this.#work().then(
        () => {
          this.#succeededAt = this.#clock.now();
          backoff.reset();
          return 0;
        },
        () => backoff.next(),
      );
      await this.#bell.wait(this.#clock, Math.max(leastMs, this.#intervalMs()));
    }
  }
}
