/** The soak's Postgres: a server of its own, that faults may restart, and the driver's own way to it. */
import { migrateDeploy, startEmbeddedPostgres, waitFor, type StopMode } from '@fencepost/testing';
import pg from 'pg';
import { APP_ROLE, soakTables } from './store/tables.ts';

/** How long the driver tries: longer than a restart takes. */
const ANSWERS_WITHIN_MS = 180_000;

export interface SoakDatabase {
  /** For workers and enqueuer; without a proxy between. */
  readonly appUrl: string;
  /** One statement of the driver's, tried until the server is there. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** A session of the driver's, to hold locks with. */
  session(): Promise<pg.Client>;
  /** One restart at a time. */
  restart(mode: StopMode): Promise<void>;
  stop(): Promise<void>;
}

export async function startSoakDatabase(): Promise<SoakDatabase> {
  const server = await startEmbeddedPostgres();
  const appUrl = new URL(server.url);
  appUrl.username = APP_ROLE;

  const connection = { connectionString: server.url, application_name: 'soak driver' };
  const pool = new pg.Pool({ ...connection, max: 4 });
  // Restarts end its sessions at any time; a query that needs one gets another.
  pool.on('error', () => {});

  const stop = async () => {
    await pool.end();
    await server.stop();
  };
  try {
    await migrateDeploy(server.url);
    await pool.query(soakTables(appUrl.password));
  } catch (error) {
    await stop();
    throw error;
  }
  let restarting = Promise.resolve();
  return {
    appUrl: appUrl.href,
    async query(sql, values = []) {
      const { rows } = await waitFor(() => pool.query(sql, values), {
        timeout: ANSWERS_WITHIN_MS,
        interval: 100,
      });
      return rows as never;
    },
    async session() {
      const client = new pg.Client(connection);
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    restart(mode) {
      restarting = restarting.catch(() => {}).then(() => server.restart(mode));
      return restarting;
    },
    stop,
  };
}
