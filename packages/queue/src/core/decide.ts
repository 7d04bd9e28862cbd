/**
 * From how a run ended to what is written of it. Pure: the write, and the fence that it passes, are in the store.
 * The sweep makes the same choice for runs that nobody is left to end, in SQL (store/reclaim.ts).
 */
import type { Thrown } from './thrown.ts';

/** How a run ended, as the executor saw it. */
export type Outcome =
  | { readonly outcome: 'completed'; readonly result: string | null }
  | { readonly outcome: 'failed'; readonly kind: FailureKind; readonly thrown: Thrown }
  | { readonly outcome: 'discarded'; readonly thrown: Thrown }
  | { readonly outcome: 'snoozed'; readonly delayMs: number }
  | { readonly outcome: 'cancelled'; readonly thrown: Thrown }
  /** The drain's deadline came first. */
  | { readonly outcome: 'released' };

export type FailureKind = 'failed' | 'timeout' | 'invalid_payload' | 'claim_lost';

/** Why an attempt did not finish, as its entry in `errors` says. `crashed` is the sweep's word. */
export type ErrorKind = FailureKind | 'discarded' | 'cancelled' | 'crashed';

export interface AttemptError extends Thrown {
  readonly kind: ErrorKind;
}

/** What to write of a run that ended. */
export type Settlement =
  | { readonly settle: 'complete'; readonly result: string | null }
  /** Pending again after the row's own `retryDelayMs`. */
  | { readonly settle: 'retry'; readonly error: AttemptError }
  | { readonly settle: 'bury'; readonly error: AttemptError }
  | { readonly settle: 'cancel'; readonly error: AttemptError }
  /** Pending again after the delay, uncharged. */
  | { readonly settle: 'snooze'; readonly delayMs: number }
  /** Pending again and due at once, uncharged. */
  | { readonly settle: 'release' };

/** One for all: nearly every run that there is comes to this. */
const COMPLETED: Settlement = { settle: 'complete', result: null };

export interface AttemptCount {
  /** Attempts charged so far, this one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

export function decide(outcome: Outcome, { attempts, maxAttempts }: AttemptCount): Settlement {
  switch (outcome.outcome) {
    case 'completed':
      return outcome.result === null ? COMPLETED : { settle: 'complete', result: outcome.result };
    case 'failed': {
      const error = { ...outcome.thrown, kind: outcome.kind };
      return attempts >= maxAttempts ? { settle: 'bury', error } : { settle: 'retry', error };
    }
    case 'discarded':
      return { settle: 'bury', error: { ...outcome.thrown, kind: 'discarded' } };
    case 'snoozed':
      return { settle: 'snooze', delayMs: outcome.delayMs };
    case 'cancelled':
      return { settle: 'cancel', error: { ...outcome.thrown, kind: 'cancelled' } };
    case 'released':
      return { settle: 'release' };
  }
}
