/** The scenario's Postgres: a server of its own with the durability it has by default, and one empty database. */
import { startEmbeddedPostgres, waitFor } from '@fencepost/testing';
import pg from 'pg';
import manifest from '../adapter.json' with { type: 'json' };

/** Longer than the server is ever away. */
const ANSWERS_WITHIN_MS = 120_000;

export interface BenchDatabase {
  readonly url: string;
  /** A session of the driver's. It says nothing when it is ended from outside; its next query does. */
  session(): Promise<pg.Client>;
  /** One statement, tried until the server takes it. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Stops the server, as an operator does, until `resume`. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startBenchDatabase(): Promise<BenchDatabase> {
  const server = await startEmbeddedPostgres();
  const url = new URL(server.url);
  try {
    await onSession(url.href, (session) => session.query(`CREATE DATABASE ${manifest.db_name}`));
  } catch (error) {
    await server.stop();
    throw error;
  }
  url.pathname = `/${manifest.db_name}`;
  return {
    url: url.href,
    session: () => connect(url.href),
    async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) {
      const { rows } = await waitFor(
        () => onSession(url.href, (session) => session.query<Row>(sql, values)),
        {
          timeout: ANSWERS_WITHIN_MS,
          interval: 250,
        },
      );
      return rows;
    },
    halt: () => server.halt('fast'),
    resume: () => server.resume(),
    stop: () => server.stop(),
  };
}

async function connect(url: string): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: url, application_name: 'bench driver' });
  session.on('error', () => {});
  await session.connect();
  return session;
}

async function onSession<T>(url: string, use: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = await connect(url);
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}
