/**
 * Whether the database answers, as every statement of the worker finds out. What goes wrong is told when it begins, at
 * growing intervals while it lasts, and when it is over: in lines for the fault, not one for each failure.
 */
import type { Logger } from '@fencepost/queue';
import { databaseFault, type DatabaseFault } from '@fencepost/service';
import { timely, type Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';
import { SparseLines } from './sparse-lines.ts';

export type Statement =
  | 'claim'
  | 'renew'
  | 'settle'
  | 'reclaim'
  | 'cleanup'
  | 'next_due'
  | 'backlog'
  | 'vacuum_holder';

/**
 * A network can swallow a connection without a word, and a statement on it then waits for as long as the operating
 * system believes in it. Longer than any statement of the queue takes, and half of the usual lease.
 */
const ANSWER_MS = 15_000;

/** A fault of the database that has a name, or the failures of one statement. */
interface Trouble {
  readonly fault: DatabaseFault | undefined;
  readonly lines: SparseLines;
  readonly statements: Set<Statement>;
  since: number | undefined;
  /** Whether there was a line since it began, so that its end is worth one. */
  told: boolean;
}

export class DatabaseWatch {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  /** Kept after their end, so that a fault that comes and goes is told no more often than one that stays. */
  readonly #troubles = new Map<string, Trouble>();
  #failingSince: number | undefined;
  #claimsFailingSince: number | undefined;
  #latest: DatabaseFault | undefined;

  constructor(options: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#metrics = options.metrics;
  }

  /** Runs a statement and notes how it went. Throws what it throws, or that there was no answer in time. */
  async run<T>(statement: Statement, work: () => Promise<T>): Promise<T> {
    try {
      const value = await timely(this.#clock, ANSWER_MS, work());
      this.answered(statement);
      return value;
    } catch (error) {
      this.failed(statement, error);
      throw error;
    }
  }

  answered(statement: Statement): void {
    this.#failingSince = undefined;
    if (statement === 'claim') this.#claimsFailingSince = undefined;
    const over = [...this.#troubles.values()].filter(
      ({ since, fault, statements }) =>
        since !== undefined && (fault?.stopsAll === true || statements.has(statement)),
    );
    const told = over.filter((trouble) => trouble.told);
    if (told.length > 0) {
      const failedForMs = Math.round(Math.max(...told.map(({ since }) => this.#since(since))));
      const faults = told.map(({ fault }) => fault?.name ?? 'other');
      this.#logger.info({ statement, faults, failedForMs }, 'database answers again');
    }
    for (const trouble of over) {
      trouble.since = undefined;
      trouble.told = false;
      trouble.statements.clear();
    }
  }

  failed(statement: Statement, error: unknown): void {
    const now = this.#clock.now();
    this.#metrics.databaseErrors.inc({ statement });
    this.#failingSince ??= now;
    if (statement === 'claim') this.#claimsFailingSince ??= now;

    const trouble = this.#troubleOf(statement, databaseFault(error));
    trouble.since ??= now;
    trouble.statements.add(statement);
    this.#latest = trouble.fault;
    const failures = trouble.lines.next(statement);
    if (failures === undefined) return;
    trouble.told = true;
    const { name: fault, meaning } = trouble.fault ?? {};
    const failingForMs = Math.round(now - trouble.since);
    this.#logger.warn({ err: error, statement, fault, meaning, failures, failingForMs }, 'statement failed');
  }

  /** Milliseconds since the first failure after which no statement has succeeded; 0 while they do. */
  failingForMs(): number {
    return this.#since(this.#failingSince);
  }

  /** The same of claims alone: other statements may go through where a claim does not. */
  claimsFailingForMs(): number {
    return this.#since(this.#claimsFailingSince);
  }

  /** What is wrong while something is, where it has a name. */
  fault(): DatabaseFault | undefined {
    return this.#failingSince === undefined && this.#claimsFailingSince === undefined
      ? undefined
      : this.#latest;
  }

  #troubleOf(statement: Statement, fault: DatabaseFault | undefined): Trouble {
    const key = fault?.name ?? `other ${statement}`;
    const known = this.#troubles.get(key);
    if (known) return known;
    const statements = new Set<Statement>();
    const trouble = { fault, statements, lines: new SparseLines(this.#clock), since: undefined, told: false };
    this.#troubles.set(key, trouble);
    return trouble;
  }

  #since(time: number | undefined): number {
    return time === undefined ? 0 : this.#clock.now() - time;
  }
}
