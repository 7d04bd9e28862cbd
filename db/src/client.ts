/**
 * The one place that builds a Prisma client and its connections.
 *
 * Every session is in UTC whatever role, database and server say, because the adapter reads and writes `timestamptz` as
 * if it were. Statements are prepared by name, except behind a transaction pooler. A connection that breaks while it is
 * idle is told to somebody and never ends the process.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import { parseDatabaseUrl } from '../engine/database-url.mjs';
import { sessionConfig, UtcClient } from '../engine/session.mjs';
import { PrismaClient } from './generated/client.ts';
import { onPoolError, poolConfig, preparedStatements, type PoolOptions } from './pool.ts';
import { statementNames } from './statement-names.ts';

/**
 * A client that connects with its first query. `$disconnect()` waits for the queries in flight and closes the
 * connections.
 *
 * A query rejects with `SessionTimeZoneError` when its session is not in UTC in spite of everything.
 *
 * @throws {DatabaseUrlError} the URL cannot be used; the message says why, without the password
 */
export function createPrisma(url: string, options: PoolOptions = {}): PrismaClient {
  const target = parseDatabaseUrl(url);
  const onError = onPoolError(options);
  const adapter = new PrismaPg(poolConfig(target, options), {
    schema: target.schema,
    onPoolError: onError,
    onConnectionError: onError,
    statementNameGenerator: statementNames(preparedStatements(target)),
  });
  return new PrismaClient({ adapter, errorFormat: 'minimal' });
}

/**
 * A connection of one's own beside the pool, in UTC as well, for what needs a session: LISTEN. Not connected yet.
 *
 * @throws {DatabaseUrlError}
 */
export function createPgClient(
  url: string,
  options: { applicationName: string; onError: (error: Error) => void },
): UtcClient {
  const client = new UtcClient(sessionConfig(parseDatabaseUrl(url), options.applicationName));
  return client.on('error', options.onError);
}
