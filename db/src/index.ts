/** The database: its client, its types, and what a database URL says. */
export { DatabaseUrlError, parseDatabaseUrl, redactUrl } from '../engine/database-url.mjs';
export type { DatabaseTarget } from '../engine/database-url.mjs';
export { SessionTimeZoneError } from '../engine/session.mjs';
export { createPgClient, createPrisma } from './client.ts';
export type { PoolOptions } from './pool.ts';
export { JobState, Prisma } from './generated/client.ts';
export type * from './generated/client.ts';
