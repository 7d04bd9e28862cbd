import type { ConnectionOptions } from 'node:tls';

/** The database URL cannot be used. The message says why, and never holds the password. */
export declare class DatabaseUrlError extends Error {
  readonly code: 'DATABASE_URL_INVALID';
  constructor(message: string);
}

/** A database URL, taken apart. Holds the password: not for logs, where `redactUrl` is. */
export interface DatabaseTarget {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** From `sslmode`, `sslrootcert`, `sslcert`, `sslkey`; false is plain text, the default. */
  readonly ssl: false | ConnectionOptions;
  /** `?schema=`, "public" by default. */
  readonly schema: string;
  /** `?pgbouncer=true`: a transaction pooler stands between, so no prepared statements, no LISTEN, no session locks. */
  readonly behindPooler: boolean;
  /** `?connection_limit=`: the most connections one process may open. */
  readonly connectionLimit: number | undefined;
  /** `?statement_cache_size=`: the most prepared statements a connection may hold; 0 prepares none. */
  readonly statementCacheSize: number | undefined;
  /** `?pool_timeout=`, in milliseconds; 0 waits for ever. */
  readonly poolTimeoutMs: number | undefined;
  /** `?connect_timeout=`, in milliseconds; 0 waits for ever. */
  readonly connectTimeoutMs: number | undefined;
  /** `?application_name=`. */
  readonly applicationName: string | undefined;
  /** `?options=`: libpq's command line options for the session. */
  readonly options: string | undefined;
}

/**
 * Takes a database URL apart.
 *
 * @throws {DatabaseUrlError} what is wrong, what was found, what is allowed
 */
export declare function parseDatabaseUrl(url: string): DatabaseTarget;

/** The URL as it may be shown: without its password, and without any of it when it cannot be read with certainty. */
export declare function redactUrl(url: string): string;
