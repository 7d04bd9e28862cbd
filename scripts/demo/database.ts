/** The demo's database: `DATABASE_URL`, or an embedded server, whose data are kept between runs under .data/demo. */
import { assertReachable, migrateDeploy, startEmbeddedPostgres } from '@fencepost/testing';
import type { Settings } from './settings.ts';

export interface Database {
  url: string;
  /** Leaves a database of one's own running. */
  stop: () => Promise<void>;
}

export async function openDatabase({ databaseUrl, once }: Settings): Promise<Database> {
  const database = databaseUrl ? await openOwn(databaseUrl) : await startEmbedded(once);
  try {
    await migrateDeploy(database.url);
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

async function openOwn(url: string): Promise<Database> {
  await assertReachable('DATABASE_URL', url);
  return { url, stop: async () => undefined };
}

/** One round starts from nothing, so that what it counts is its own. */
async function startEmbedded(once: boolean): Promise<Database> {
  return startEmbeddedPostgres(once ? {} : { persistent: 'demo' });
}
