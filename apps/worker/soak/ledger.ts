/**
 * What the enqueuer knows of its own transactions, kept outside of the database that is being tormented: this is what
 * the table is held against.
 */
import type { Behaviour } from './contracts.ts';

/** `unknown`: the answer to the commit was lost. The job's own row and the app's tell, and have to tell the same. */
export type Fate = 'committed' | 'rolled back' | 'unknown';

export interface LedgerEntry {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly fate: Fate;
}

export class Ledger {
  readonly entries: LedgerEntry[] = [];
  /** Jobs that somebody asked to cancel, whatever the answer was. */
  readonly cancelsAsked = new Set<string>();
  /** Transactions that failed before they had enqueued anything. */
  failures = 0;

  record(entry: LedgerEntry): void {
    this.entries.push(entry);
  }

  committedIds(): string[] {
    return this.entries.filter(({ fate }) => fate === 'committed').map(({ id }) => id);
  }
}
