/** What can go wrong before a test has begun. Messages are one line and never hold a password. */

/** The embedded server is not to be had on this machine, or did not start. */
export class EmbeddedPostgresError extends Error {
  readonly code = 'EMBEDDED_POSTGRES';
  override readonly name = 'EmbeddedPostgresError';
}

/** A database could not be migrated, cloned or reached. */
export class TestDatabaseError extends Error {
  readonly code = 'TEST_DATABASE';
  override readonly name = 'TestDatabaseError';
}

/** A condition, a log line or an exit did not come in time. */
export class WaitTimeoutError extends Error {
  readonly code = 'WAIT_TIMEOUT';
  override readonly name = 'WaitTimeoutError';
}
