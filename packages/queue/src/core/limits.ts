/** Every bound of the queue in one place: what a row may hold and how long the protocol waits. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;
export const MAX_PROGRESS_BYTES = 64 * 1024;
export const MAX_RESULT_BYTES = 64 * 1024;
/** A tenth of what Postgres's JSON parser reaches with its default stack, and far more than people nest. */
export const MAX_JSON_DEPTH = 1_000;
/** A key is part of an index entry, which Postgres bounds at about 2,700 bytes. */
export const MAX_KEY_BYTES = 512;
export const MAX_TYPE_BYTES = 200;
export const MAX_MESSAGE_CHARACTERS = 2_000;
export const MAX_STACK_CHARACTERS = 8_000;
export const MAX_ATTEMPTS = 1_000;

/** Rows of one INSERT: bounds the statement's memory and the time that it holds its locks. */
export const MAX_ENQUEUE_BATCH = 10_000;
export const MAX_ENQUEUE_BYTES = 64 * 1024 * 1024;
/** Jobs of one claim: bounds what it brings at once, and what a lost answer leaves to the sweep. */
export const MAX_CLAIM = 1_000;
/** Issues of a payload that are told, and characters of each: a schema may name one for every item of a list. */
export const MAX_ISSUES = 20;
export const MAX_ISSUE_CHARACTERS = 500;

/** A lease shorter than this would be renewed several times a second; one longer leaves a dead worker's jobs for hours. */
export const LEASE_MS = { min: 1_000, max: 3_600_000, default: 30_000 } as const;
export const TIMEOUT_MS = { min: 1, max: 7 * 86_400_000, default: 600_000 } as const;
/** With 25 attempts, two seconds doubling up to six hours make about three days of trying. */
export const RETRY_BASE_MS = { min: 1, max: 86_400_000, default: 2_000 } as const;
export const RETRY_MAX_MS = { min: 1, max: 7 * 86_400_000, default: 6 * 3_600_000 } as const;
export const DEFAULT_MAX_ATTEMPTS = 25;
export const DEFAULT_MAX_CRASHES = 3;
/** Furthest that a job can be delayed or snoozed. */
export const MAX_DELAY_MS = 10 * 365 * 86_400_000;

/**
 * How long past its end a lease is still left alone: a renewal that was sent in time may be on its way. Not a setting,
 * so that every worker's sweep judges alike.
 */
export const RECLAIM_GRACE_MS = 2_000;
