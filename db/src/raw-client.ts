/**
 * Connections that take statements spelled as for Prisma's `$queryRaw`, without Prisma: for a thread that sends one
 * statement and nothing else, a third of the memory and of the time to start.
 */
import pg from 'pg';
import { parseDatabaseUrl } from '../engine/database-url.mjs';
import { onPoolError, poolConfig, preparedStatements, type PoolOptions } from './pool.ts';
import { statementNames } from './statement-names.ts';

export interface RawClient {
  /** The rows, as `pg` reads them. */
  $queryRaw<T = unknown>(query: TemplateStringsArray, ...values: unknown[]): Promise<T>;
  /** Waits for the queries in flight and closes the connections. */
  end(): Promise<void>;
}

/**
 * Connects with its first query.
 *
 * @throws {DatabaseUrlError}
 */
export function createRawClient(url: string, options: PoolOptions): RawClient {
  const target = parseDatabaseUrl(url);
  const pool = new pg.Pool(poolConfig(target, options)).on('error', onPoolError(options));
  const nameOf = statementNames(preparedStatements(target));
  return {
    async $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]) {
      const text = query.reduce((sql, part, index) => `${sql}$${index}${part}`);
      const { rows } = await pool.query({ text, values, name: nameOf({ sql: text }) });
      return rows as T;
    },
    end: () => pool.end(),
  };
}
