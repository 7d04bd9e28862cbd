/**
 * The migrated template database of one test run, and the removal of what runs leave behind.
 *
 * Every database of a run carries the run's name. A run holds an advisory lock as long as it lives, so that another
 * run on the same server can tell the databases of one that was killed from those of one that is at work.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { connect } from './connection.ts';
import { migrateDeploy } from './migrate.ts';
import { withDatabase } from './url.ts';

/** What a test process has to know to make databases. */
export interface TestServer {
  adminUrl: string;
  run: string;
}

export interface TestRun extends TestServer {
  /** Drops every database of the run. */
  readonly end: () => Promise<void>;
}

export function templateName(run: string): string {
  return `fencepost_template_${run}`;
}

export function cloneName(run: string): string {
  return `fencepost_test_${run}_${randomBytes(4).toString('hex')}`;
}

/**
 * @param migrated a template of that server to be cloned instead of migrating an empty database: for whoever starts many
 *   runs with the same migrations.
 */
export async function startTestRun(adminUrl: string, migrated?: string): Promise<TestRun> {
  const run = randomBytes(4).toString('hex');
  const client = await connect(adminUrl);
  const end = async () => {
    await dropDatabasesOf(client, run);
    await client.end();
  };
  try {
    await tryLock(client, run);
    await dropAbandonedDatabases(client);
    await client.query(`CREATE DATABASE ${templateName(run)} TEMPLATE ${migrated ?? 'template1'}`);
    if (migrated === undefined) await migrateDeploy(withDatabase(adminUrl, templateName(run)));
    // A template that anybody is connected to cannot be cloned.
    await client.query(`ALTER DATABASE ${templateName(run)} ALLOW_CONNECTIONS false`);
    return { adminUrl, run, end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function dropAbandonedDatabases(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ run: string }>(
    `SELECT DISTINCT substring(datname FROM '^fencepost_(?:template|test)_([0-9a-f]{8})') AS run
     FROM pg_database
     WHERE datname ~ '^fencepost_(template|test)_[0-9a-f]{8}'`,
  );
  for (const { run } of rows) {
    if (!(await tryLock(client, run))) continue;
    await dropDatabasesOf(client, run);
    await client.query(`SELECT pg_advisory_unlock(${lockKey})`, [run]);
  }
}

async function dropDatabasesOf(client: pg.Client, run: string): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname
     FROM pg_database
     WHERE datname ~ ('^fencepost_(template|test)_' || $1)`,
    [run],
  );
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
}

const lockKey = "hashtextextended('fencepost test run ' || $1, 0)";

async function tryLock(client: pg.Client, run: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_lock(${lockKey}) AS locked`,
    [run],
  );
  return rows[0]?.locked === true;
}
