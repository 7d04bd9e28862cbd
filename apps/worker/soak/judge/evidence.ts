/** What the judge is given: what each party wrote down for itself. */
import type { Exit, LogLine } from '@fencepost/testing';
import type { LedgerEntry } from '../ledger.ts';

export interface Evidence {
  /** The enqueuer's, of its own transactions. */
  readonly ledger: readonly LedgerEntry[];
  readonly cancelsAsked: ReadonlySet<string>;
  /** The table at the end, and what was deleted by its completion. */
  readonly jobs: readonly JobEvidence[];
  /** The latter. */
  readonly gone: ReadonlySet<string>;
  /** The jobs that have a row of the app's. */
  readonly orders: ReadonlySet<string>;
  /** What handlers wrote in the transactions that completed their jobs. */
  readonly effects: readonly EffectEvidence[];
  /** What handlers wrote outside of them. */
  readonly outside: readonly EffectEvidence[];
  /** Every change of state or token, as a trigger saw it, in order. */
  readonly moves: readonly Move[];
  readonly processes: readonly ProcessEvidence[];
}

export interface JobEvidence {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly claims: number;
  readonly claimedBy: string | null;
  /** Of the last entry of `errors`. */
  readonly lastError: string | null;
}

export interface EffectEvidence {
  readonly job: string;
  /** The number of the claim whose run wrote it. */
  readonly fence: number;
}

export interface Move {
  readonly job: string;
  readonly stateBefore: string;
  readonly stateAfter: string;
  readonly tokenBefore: string | null;
  readonly tokenAfter: string | null;
  readonly attemptsBefore: number;
  readonly attemptsAfter: number;
  readonly claims: number;
  /** `crashes` grew. */
  readonly crashed: boolean;
  /** Of a claim: before the job was due. Of a reclaim: before its lease was over. */
  readonly early: boolean;
  readonly claimedBy: string | null;
  /** The session's `application_name`: a worker's name and which of its pools. */
  readonly by: string;
  /** The transaction that made it. */
  readonly tx: string;
}

export interface ProcessEvidence {
  readonly name: string;
  /** What the driver sent it. */
  readonly sent: readonly NodeJS.Signals[];
  readonly exit: Exit;
  readonly lines: readonly LogLine[];
}

/** One thing that is not as it must be. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}
