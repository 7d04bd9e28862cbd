/**
 * A start that is killed in the middle of a migration: what is left of it, what the next start says, and that its
 * advice, taken word by word, settles it.
 */
import { createTestDatabase, waitFor } from '@fencepost/testing';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { makeRelease } from './fixtures/release.ts';
import type { StartRun } from './fixtures/run-start.ts';

const NAME = '20990101000000_half_way';

/** Stops in its middle for as long as a session of the test holds the gate's lock. */
const HALF_WAY = `
  CREATE TABLE first_half (n int);
  SELECT FROM gate;
  CREATE TABLE second_half (n int);`;

/** Prisma waits ten seconds for the migration lock before it says so, and each start takes some itself. */
const TIMEOUT = 300_000;

const succeeded = { code: 0, signal: null, output: expect.any(String) as string };
const failed = { ...succeeded, code: 1 };

test(
  'the death of the process rolls its migration back and frees the lock, and the others that waited explain it',
  async () => {
    const database = await openDatabase();
    const release = await makeRelease({ [NAME]: HALF_WAY });
    const openGate = await database.closeGate();
    const killed = release.start(database.url);
    await waitFor(database.isAtGate, { timeout: 60_000 });
    const others = [1, 2, 3].map(() => release.start(database.url));
    for (const other of others) await other.says('another machine holds the migration lock, trying again');

    killed.kill();
    for (const other of others) await expectExplanation(other);
    expect(await database.state()).toEqual({ tables: [], records: [{ finished: false, rolledBack: false }] });

    await release.follow(others[0]!, '--rolled-back', database.url);
    await openGate();
    expect(await release.start(database.url).exited).toEqual(succeeded);
    expect(await database.state()).toEqual({
      tables: ['first_half', 'second_half'],
      records: [
        { finished: false, rolledBack: true },
        { finished: true, rolledBack: false },
      ],
    });
  },
  TIMEOUT,
);

test(
  'a migration that Postgres finished after the death of the process is there as a whole, and marked as applied',
  async () => {
    const database = await openDatabase();
    const release = await makeRelease({
      [NAME]: `SET LOCAL client_connection_check_interval = 0; ${HALF_WAY}`,
    });
    const openGate = await database.closeGate();
    const killed = release.start(database.url);
    await waitFor(database.isAtGate, { timeout: 60_000 });
    killed.kill();
    const next = release.start(database.url);
    await next.says('another machine holds the migration lock, trying again');

    await openGate();
    await expectExplanation(next);
    expect(await database.state()).toEqual({
      tables: ['first_half', 'second_half'],
      records: [{ finished: false, rolledBack: false }],
    });

    await release.follow(next, '--applied', database.url);
    expect(await release.start(database.url).exited).toEqual(succeeded);
  },
  TIMEOUT,
);

test(
  'an index that was being built beside its table is left invalid, and is dropped before the migration is tried again',
  async () => {
    const database = await openDatabase();
    const release = await makeRelease({ [NAME]: 'CREATE INDEX CONCURRENTLY gate_n ON gate (n);' });
    const openGate = await database.closeGate('ROW EXCLUSIVE');
    const killed = release.start(database.url);
    await waitFor(database.isAtGate, { timeout: 60_000 });
    killed.kill();
    const next = release.start(database.url);
    await expectExplanation(next);

    await openGate();
    await database.query('DROP INDEX gate_n');
    await release.follow(next, '--rolled-back', database.url);
    expect(await release.start(database.url).exited).toEqual(succeeded);
    expect(
      await database.query("SELECT FROM pg_index WHERE indrelid = 'gate'::regclass AND indisvalid"),
    ).toHaveLength(1);
  },
  TIMEOUT,
);

async function expectExplanation(run: StartRun): Promise<void> {
  expect(await run.exited).toEqual(failed);
  expect(run.output()).toContain('P3009');
  expect(run.output()).toContain(`node db/engine/prisma.mjs migrate resolve --rolled-back ${NAME}`);
  expect(run.output()).toContain(`node db/engine/prisma.mjs migrate resolve --applied ${NAME}`);
  expect(run.output()).not.toContain('it runs');
}

/** A migrated database with a gate. */
async function openDatabase() {
  const { url } = await createTestDatabase();
  const client = await connect(url);
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await client.query<Record<string, unknown>>(sql)).rows;
  await query('CREATE TABLE gate (n int)');

  /** A session holds the lock until the returned function is called. */
  const closeGate = async (mode = 'ACCESS EXCLUSIVE') => {
    const holder = await connect(url);
    await holder.query('BEGIN');
    await holder.query(`LOCK TABLE gate IN ${mode} MODE`);
    return async () => void (await holder.query('ROLLBACK'));
  };
  /** The migration waits for the table, or for the transaction that holds it. */
  const isAtGate = async () => {
    const waiting = await query(
      `SELECT
       FROM pg_locks
       JOIN pg_stat_activity USING (pid)
       WHERE NOT granted AND locktype IN ('relation', 'virtualxid') AND datname = current_database()`,
    );
    return waiting.length === 1;
  };
  /** What there is of the migration, and what Prisma has written down about it. */
  const state = async () => {
    const tables = await query(
      "SELECT tablename FROM pg_tables WHERE tablename IN ('first_half', 'second_half') ORDER BY tablename",
    );
    const records = await query(
      `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS "rolledBack"
       FROM _prisma_migrations
       WHERE migration_name = '${NAME}'
       ORDER BY started_at`,
    );
    return { tables: tables.map(({ tablename }) => tablename), records };
  };
  return { url, query, closeGate, isAtGate, state };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
