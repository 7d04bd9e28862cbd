/** A job to be inserted. Its payload is JSON that jsonb takes. */
export interface NewJob {
  readonly id: string;
  readonly payload: string;
  readonly priority: number;
  /** Not before this instant, in milliseconds since 1970; null where `delayMs` says it. */
  readonly runAtMs: number | null;
  /** Not before so many milliseconds from now, by the database's clock. */
  readonly delayMs: number;
  readonly dedupeKey: string | null;
}

/** What all jobs of one statement share. */
export interface SharedByJobs {
  readonly type: string;
  readonly maxAttempts: number;
  readonly maxCrashes: number;
}

export interface NewJobs extends SharedByJobs {
  readonly jobs: readonly NewJob[];
}
