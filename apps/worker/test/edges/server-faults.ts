/** What can be done to a Postgres server of a test's own, so that it turns away a role that is not a superuser. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrateDeploy, startEmbeddedPostgres, waitFor, type EmbeddedPostgres } from '@fencepost/testing';
import pg from 'pg';
import { openJobTable, type JobTable } from '../fixtures/job-table.ts';

export const PASSWORD = 'hunter2hunter2';

export interface FaultyServer {
  readonly table: JobTable;
  /** The superuser's session, opened before any fault. */
  sql(text: string): Promise<void>;
  /** A URL of a new role that may do what the queue and the web app do. */
  createRole(role: string): Promise<string>;
  /** Ends the role's sessions, so that what has been set holds for each that it opens. */
  endSessions(role: string): Promise<void>;
  /** Takes every connection that `role` leaves or gives up; returns the function that gives them back. */
  takeAllConnections(role: string): Promise<() => Promise<void>>;
  /** The server comes back as a standby that takes no connections; returns the function that promotes it. */
  becomeStandby(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export async function startFaultyServer(): Promise<FaultyServer> {
  const server = await startEmbeddedPostgres({ settings: { max_connections: 60, hot_standby: 'off' } });
  await migrateDeploy(server.url);
  const table = await openJobTable(server.url);
  let admin = await connect(server.url);
  // Of the role, which outranks what is set on the database: the test's own sessions stay writable.
  await admin.query('ALTER ROLE postgres SET default_transaction_read_only = off');
  const sql = async (text: string) => void (await admin.query(text));
  const urlOf = (role: string) => {
    const url = new URL(server.url);
    Object.assign(url, { username: role, password: PASSWORD });
    return url.href;
  };
  return {
    table,
    sql,
    async createRole(role) {
      await sql(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
      await sql(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
      return urlOf(role);
    },
    endSessions: (role) =>
      sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`),
    async takeAllConnections(role) {
      // Sessions of the role that are just ending, or being turned away, hold a connection for a moment yet.
      const areTaken = async () => {
        const { rows } = await admin.query<{ taken: boolean }>(`
          SELECT
            count(*) >= current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              AS taken
          FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND usename <> '${role}'`);
        return rows[0]!.taken;
      };
      await sql(`CREATE ROLE greedy LOGIN PASSWORD '${PASSWORD}'`);
      const taken: pg.Client[] = [];
      await waitFor(async () => {
        for (let client; (client = await connect(urlOf('greedy')).catch(() => undefined));)
          taken.push(client);
        return areTaken();
      });
      return async () => void (await Promise.all(taken.map((client) => client.end())));
    },
    async becomeStandby() {
      const { rows } = await admin.query<{ data_directory: string }>('SHOW data_directory');
      const data = rows[0]!.data_directory;
      await server.halt('fast');
      await writeFile(join(data, 'standby.signal'), '');
      await server.resume();
      return async () => {
        await promote(data);
        admin = await waitFor(() => connect(server.url), { timeout: 30_000 });
      };
    },
    async stop() {
      await admin.end();
      await table.close();
      await server.stop();
    },
  } satisfies FaultyServer & { stop: EmbeddedPostgres['stop'] };
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** What `pg_ctl promote` does. */
async function promote(data: string): Promise<void> {
  const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  await writeFile(join(data, 'promote'), '');
  process.kill(Number(pid), 'SIGUSR1');
}
