/** The server of one fleet: an embedded Postgres with its default durability, migrated, and a pooler before it if asked for. */
import { migrateDeploy, startEmbeddedPostgres, startPgBouncer } from '@fencepost/testing';
import pg from 'pg';
import type { FleetSettings } from './settings.ts';
import { partitionTable } from './store/partition-table.ts';

/** Above what the workers need: the enqueuer's, the bench's own, the server's reserve. */
const OTHER_CONNECTIONS = 40;
/** Of each worker beside its pool: at most three for its leases, and one for wake-ups. */
const CONNECTIONS_BESIDE_POOL = 4;

export interface FleetServer {
  readonly directUrl: string;
  /** What the workers are told: the pooler's, where there is one. */
  readonly url: string;
  readonly session: pg.Client;
  stop(): Promise<void>;
}

export async function startFleetServer(workers: number, settings: FleetSettings): Promise<FleetServer> {
  const server = await startEmbeddedPostgres({
    settings: {
      max_connections: workers * (settings.pool + CONNECTIONS_BESIDE_POOL) + OTHER_CONNECTIONS,
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track_planning': 'on',
      ...settings.server,
    },
  });
  try {
    await migrateDeploy(server.url);
    const session = new pg.Client({ connectionString: server.url, application_name: 'fleet bench' });
    await session.connect();
    await session.query('CREATE EXTENSION pg_stat_statements');
    if (settings.table !== 'plain') await session.query(partitionTable(settings.table));
    const { pooler: poolSize } = settings;
    const pooler = poolSize === undefined ? undefined : await startPgBouncer({ url: server.url, poolSize });
    return {
      directUrl: server.url,
      url: pooler?.url ?? server.url,
      session,
      // The pooler goes when this process does, and its folder with it.
      async stop() {
        await session.end();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
