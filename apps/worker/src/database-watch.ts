/** Whether the database answers, as every statement of the worker finds out: one log line a failure, one a recovery. */
import type { Logger } from '@fencepost/queue';
import { timely, type Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

export type Statement = 'claim' | 'renew' | 'settle' | 'reclaim' | 'cleanup' | 'next_due' | 'backlog';

/**
 * A network can swallow a connection without a word, and a statement on it then waits for as long as the operating
 * system believes in it. Longer than any statement of the queue takes, and half of the usual lease.
 */
const ANSWER_MS = 15_000;

export class DatabaseWatch {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  #failingSince: number | undefined;
  #claimsFailingSince: number | undefined;

  constructor(options: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#metrics = options.metrics;
  }

  /** Runs a statement and notes how it went. Throws what it throws, or that there was no answer in time. */
  async run<T>(statement: Statement, work: () => Promise<T>): Promise<T> {
    try {
      const value = await timely(this.#clock, ANSWER_MS, work());
      this.#recovered();
      if (statement === 'claim') this.#claimsFailingSince = undefined;
      return value;
    } catch (error) {
      this.#metrics.databaseErrors.inc({ statement });
      this.#logger.warn({ err: error, statement }, 'statement failed');
      this.#failingSince ??= this.#clock.now();
      if (statement === 'claim') this.#claimsFailingSince ??= this.#clock.now();
      throw error;
    }
  }

  /** Milliseconds since the first failure after which no statement has succeeded; 0 while they do. */
  failingForMs(): number {
    return this.#since(this.#failingSince);
  }

  /** The same of claims alone: other statements may go through where a claim does not. */
  claimsFailingForMs(): number {
    return this.#since(this.#claimsFailingSince);
  }

  #since(time: number | undefined): number {
    return time === undefined ? 0 : this.#clock.now() - time;
  }

  #recovered(): void {
    if (this.#failingSince === undefined) return;
    this.#logger.info({ failedForMs: Math.round(this.failingForMs()) }, 'database answers again');
    this.#failingSince = undefined;
  }
}
