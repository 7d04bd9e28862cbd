/**
 * The one place that builds a Prisma client and its connections.
 *
 * Every session is in UTC whatever role, database and server say, because the adapter reads and writes `timestamptz` as
 * if it were. Statements are prepared by name, except behind a transaction pooler. A connection that breaks while it is
 * idle is told to somebody and never ends the process.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import type { ClientBase } from 'pg';
import { parseDatabaseUrl } from '../engine/database-url.mjs';
import { sessionConfig, UtcClient } from '../engine/session.mjs';
import { PrismaClient } from './generated/client.ts';
import { statementNames } from './statement-names.ts';

export interface PrismaOptions {
  /** What the connections are called in `pg_stat_activity`. By default the URL's `application_name`, else "fencepost". */
  applicationName?: string | undefined;
  /** The most connections to open, from 1; 10 by default. The URL's `connection_limit` may lower it. */
  poolSize?: number | undefined;
  /**
   * How long one statement may take until its connection is given up and replaced: a network can swallow a connection
   * without a word, and then nothing else ends the wait for many minutes. Unlimited by default. The statement itself
   * may still be carried out.
   */
  queryTimeoutMs?: number | undefined;
  /**
   * Hears of a connection that broke while no query was waiting for it. The pool replaces it by itself, so there is
   * nothing to do but log.
   */
  onPoolError?: ((error: Error) => void) | undefined;
}

/**
 * A client that connects with its first query. `$disconnect()` waits for the queries in flight and closes the
 * connections.
 *
 * A query rejects with `SessionTimeZoneError` when its session is not in UTC in spite of everything.
 *
 * @throws {DatabaseUrlError} the URL cannot be used; the message says why, without the password
 */
export function createPrisma(url: string, options: PrismaOptions = {}): PrismaClient {
  const target = parseDatabaseUrl(url);
  const onError = (error: Error & { client?: unknown }) => {
    // The pool hangs the whole client on its error, which is not for logs.
    delete error.client;
    options.onPoolError?.(error);
  };
  const adapter = new PrismaPg(
    {
      ...sessionConfig(target, options.applicationName ?? target.applicationName ?? 'fencepost'),
      Client: UtcClient,
      onConnect: assertUtc,
      max: Math.min(options.poolSize ?? DEFAULT_POOL_SIZE, target.connectionLimit ?? Infinity),
      connectionTimeoutMillis: target.poolTimeoutMs ?? target.connectTimeoutMs ?? CONNECTION_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      query_timeout: options.queryTimeoutMs,
    },
    {
      schema: target.schema,
      onPoolError: onError,
      onConnectionError: onError,
      statementNameGenerator: statementNames(
        target.behindPooler ? 0 : (target.statementCacheSize ?? PREPARED_STATEMENTS),
      ),
    },
  );
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

const DEFAULT_POOL_SIZE = 10;

/** For a connection, whether it is awaited from the pool or from the server. */
const CONNECTION_TIMEOUT_MS = 10_000;

/** Long enough that a worker which wakes up after a quiet minute finds its connection open. */
const IDLE_TIMEOUT_MS = 300_000;

/** For each connection. The server keeps them in memory, some ten kilobytes apiece. */
const PREPARED_STATEMENTS = 256;

function assertUtc(client: ClientBase): void {
  if (client instanceof UtcClient) client.assertUtc();
}
