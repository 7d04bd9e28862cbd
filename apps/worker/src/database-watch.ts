/** Whether the database answers, as every statement of the worker finds out: one log line a failure, one a recovery. */
import type { Logger } from '@fencepost/queue';
import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

export type Statement = 'claim' | 'renew' | 'settle' | 'reclaim' | 'cleanup' | 'next_due' | 'backlog';

export class DatabaseWatch {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  #failingSince: number | undefined;

  constructor(options: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#metrics = options.metrics;
  }

  /** Runs a statement and notes how it went. Throws what it throws. */
  async run<T>(statement: Statement, work: () => Promise<T>): Promise<T> {
    try {
      const value = await work();
      this.#recovered();
      return value;
    } catch (error) {
      this.#metrics.databaseErrors.inc({ statement });
      this.#logger.warn({ err: error, statement }, 'statement failed');
      this.#failingSince ??= this.#clock.now();
      throw error;
    }
  }

  /** Milliseconds since the first failure after which no statement has succeeded; 0 while they do. */
  failingForMs(): number {
    return this.#failingSince === undefined ? 0 : this.#clock.now() - this.#failingSince;
  }

  #recovered(): void {
    if (this.#failingSince === undefined) return;
    this.#logger.info({ failedForMs: Math.round(this.failingForMs()) }, 'database answers again');
    this.#failingSince = undefined;
  }
}
