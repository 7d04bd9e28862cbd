/** A steady load: jobs in bulk, a hundred times a second, as many as are due by then. */
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.ts';
import type { Payload, Producer } from '../systems/system.ts';

const EVERY_MS = 10;

export class Load {
  #jobs = 0;
  #isStopping = false;
  readonly #startedAt = now();
  readonly #producer: Producer;
  readonly #running: Promise<void>;

  constructor(producer: Producer, jobsPerSecond: number) {
    this.#producer = producer;
    this.#running = this.#run(jobsPerSecond);
    // Whoever stops it hears of its failure.
    this.#running.catch(() => {});
  }

  async stop(): Promise<{ jobs: number; seconds: number }> {
    this.#isStopping = true;
    await this.#running;
    return { jobs: this.#jobs, seconds: (now() - this.#startedAt) / 1_000 };
  }

  async #run(jobsPerSecond: number): Promise<void> {
    while (!this.#isStopping) {
      const due = Math.floor(((now() - this.#startedAt) * jobsPerSecond) / 1_000) - this.#jobs;
      if (due > 0) {
        const first = this.#jobs;
        this.#jobs += due;
        await this.#producer.enqueueMany(Array.from({ length: due }, (_, n): Payload => ({ n: first + n })));
      }
      await sleep(EVERY_MS);
    }
  }
}
