/** One operation of a race in a session of its own: it looks, writes and ends when the race says so. */
import { sqlState } from '../../../src/store/sql-state.ts';
import type { Gate } from './gate.ts';
import type { Operation, Reports } from './operations/operation.ts';
import { begin, type Session, type Transaction } from './session.ts';
import type { Target } from './situations.ts';

/** The database gave the transaction up (40001): nothing happened. */
export type GivenUp = 'given up';

export interface Lane {
  readonly session: Session;
  readonly gate: Gate;
}

export class Runner {
  readonly operation: Operation;
  readonly targets: readonly Target[];
  /** When it took its steps, as numbers that grow over the race. */
  began = Infinity;
  wrote = Infinity;
  ended = Infinity;
  now = Number.NaN;
  reports: Reports | GivenUp | undefined;
  /** Its turn to end has come, though its statement may still be waiting. */
  isToEnd = false;

  readonly #lane: Lane;
  readonly #mayWait: boolean;
  #isToWrite = false;
  #transaction: Transaction | undefined;
  #statement: Promise<Reports | GivenUp> | undefined;

  /** @param rivals the others in the race. */
  constructor(operation: Operation, targets: readonly Target[], lane: Lane, rivals: readonly Operation[]) {
    this.operation = operation;
    this.targets = targets;
    this.#lane = lane;
    const { waitsFor = [] } = operation;
    this.#mayWait = rivals.some(({ name }) => waitsFor === 'anyone' || waitsFor.includes(name));
  }

  /** It was told to write, and waits for what somebody else holds. */
  get isWaiting(): boolean {
    return this.#isToWrite && this.reports === undefined;
  }

  async look(tick: () => number): Promise<void> {
    const { gate } = this.#lane;
    const { pid } = await this.#begin(tick);
    await gate.close(pid);
    await gate.whenWaiting(pid, this.#start());
  }

  async write(tick: () => number): Promise<void> {
    this.#isToWrite = true;
    if (this.#transaction) {
      await this.#lane.gate.open(this.#transaction.pid);
    } else {
      await this.#begin(tick);
      void this.#start();
    }
    await this.goOn(tick);
  }

  /** Hears what the statement says, unless it waits for what somebody else holds. */
  async goOn(tick: () => number): Promise<void> {
    if (!this.#transaction || !this.#statement) return;
    if (this.#mayWait) {
      const state = await this.#lane.gate.whenWaiting(this.#transaction.pid, this.#statement);
      if (state === 'waiting') return;
    }
    this.reports = await this.#statement;
    this.wrote = tick();
  }

  /** Does nothing while the statement waits: it is to be ended again. */
  async end(tick: () => number, commits: boolean): Promise<void> {
    this.isToEnd = true;
    if (!this.#transaction || this.reports === undefined) return;
    const ending = this.#transaction.end(commits && this.reports !== 'given up');
    this.#transaction = undefined;
    if ((await orGivenUp(ending)) === 'given up') this.reports = 'given up';
    this.ended = tick();
  }

  /** After a race that failed: nothing stays open. */
  async abandon(): Promise<void> {
    if (!this.#transaction) return;
    await this.#lane.gate.open(this.#transaction.pid);
    await this.#transaction.end(false).catch(() => {});
  }

  async #begin(tick: () => number): Promise<Transaction> {
    const { isByPrisma = false } = this.operation;
    this.#transaction = await begin(this.#lane.session, { mayWait: this.#mayWait, isByPrisma });
    this.now = this.#transaction.now;
    this.began = tick();
    return this.#transaction;
  }

  #start(): Promise<Reports | GivenUp> {
    const client = this.#transaction?.client;
    if (!client) throw new Error('no transaction to make a statement in');
    this.#statement = orGivenUp(this.operation.attempt(client, this.targets));
    this.#statement.catch(() => {});
    return this.#statement;
  }
}

async function orGivenUp<T>(promise: Promise<T>): Promise<T | GivenUp> {
  try {
    return await promise;
  } catch (error) {
    if (sqlState(error) === '40001') return 'given up';
    throw error;
  }
}
