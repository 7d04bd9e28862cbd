/** A real Postgres for tests and for the demo, and what tests need to wait on it and on processes. */
export { assertReachable } from './databases/connection.ts';
export { migrateDeploy } from './databases/migrate.ts';
export { startTestRun, templateName } from './databases/template.ts';
export { createTestDatabase, type TestDatabase } from './databases/test-database.ts';
export { withoutPassword } from './databases/url.ts';
export { EmbeddedPostgresError, TestDatabaseError, WaitTimeoutError } from './errors.ts';
export { whenThisProcessIsGone } from './lifeline.ts';
export {
  findPgBouncer,
  startPgBouncer,
  type PgBouncer,
  type PgBouncerOptions,
} from './pgbouncer/pgbouncer.ts';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  type StopMode,
} from './postgres/embedded.ts';
export { embeddedPlatform } from './postgres/installation.ts';
export { freePort, isFree } from './postgres/free-port.ts';
export { startPostgres, type PostgresServer } from './postgres/start.ts';
export { repositoryRoot } from './repository.ts';
export { runCommand } from './run-command.ts';
export { spawnNode, type Exit, type LogLine, type NodeProcess, type SpawnNodeOptions } from './spawn-node.ts';
export { waitFor, type WaitOptions } from './wait-for.ts';
