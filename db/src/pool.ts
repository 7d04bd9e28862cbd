/** How every pool of connections is set up, Prisma's and a thread's own. */
import type { ClientBase, PoolConfig } from 'pg';
import type { DatabaseTarget } from '../engine/database-url.mjs';
import { sessionConfig, UtcClient } from '../engine/session.mjs';
import { PooledClient } from './pooled-client.ts';

export interface PoolOptions {
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
   * For a pool that sends the queue's own statements and nothing else: each is planned once a connection, and not for
   * every call, which would take longer than a small claim itself. Not behind a pooler.
   */
  fixedPlans?: boolean | undefined;
  /**
   * Hears of a connection that broke while no query was waiting for it. The pool replaces it by itself, so there is
   * nothing to do but log.
   */
  onPoolError?: ((error: Error) => void) | undefined;
}

const DEFAULT_POOL_SIZE = 10;

/** For a connection, whether it is awaited from the pool or from the server. */
const CONNECTION_TIMEOUT_MS = 10_000;

/** Long enough that a worker which wakes up after a quiet minute finds its connection open. */
const IDLE_TIMEOUT_MS = 300_000;

/** For each connection. The server keeps them in memory, some ten kilobytes apiece. */
const PREPARED_STATEMENTS = 256;

/**
 * A plan that is kept has to be good for a table that has grown since: by an index also where the table was empty when
 * the plan was made, and to read all of it would have been cheaper. And nothing is compiled for a statement of
 * milliseconds because its estimate is high: that takes hundreds.
 *
 * Not in the startup packet, where poolers refuse what they do not know; and not where a pooler stands between, whatever
 * the URL says of it: it answers for a backend that it is not, and its sessions are everybody's.
 */
async function fixPlans(client: ClientBase): Promise<void> {
  const { processID } = client as ClientBase & { readonly processID: number };
  await client.query(
    `SELECT
      set_config('plan_cache_mode', 'force_generic_plan', false),
      set_config('enable_seqscan', 'off', false),
      set_config('jit', 'off', false)
    WHERE pg_backend_pid() = $1`,
    [processID],
  );
}

/** The pool waits for the promise, and gives the connection up where it rejects; its types do not say so. */
function onConnect(fixedPlans: boolean): (client: ClientBase) => unknown {
  return async (client) => {
    assertUtc(client);
    if (fixedPlans) await fixPlans(client);
  };
}

export function poolConfig(target: DatabaseTarget, options: PoolOptions): PoolConfig {
  return {
    ...sessionConfig(target, options.applicationName ?? target.applicationName ?? 'fencepost'),
    Client: PooledClient,
    onConnect: onConnect(options.fixedPlans === true && !target.behindPooler),
    max: Math.min(options.poolSize ?? DEFAULT_POOL_SIZE, target.connectionLimit ?? Infinity),
    connectionTimeoutMillis: target.poolTimeoutMs ?? target.connectTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: options.queryTimeoutMs,
  };
}

/** What hears of broken connections: the pool hangs the whole client on its error, which is not for logs. */
export function onPoolError(options: PoolOptions): (error: Error) => void {
  return (error: Error & { client?: unknown }) => {
    delete error.client;
    options.onPoolError?.(error);
  };
}

/** How many statements a connection prepares; behind a transaction pooler none. */
export function preparedStatements(target: DatabaseTarget): number {
  return target.behindPooler ? 0 : (target.statementCacheSize ?? PREPARED_STATEMENTS);
}

function assertUtc(client: ClientBase): void {
  if (client instanceof UtcClient) client.assertUtc();
}
