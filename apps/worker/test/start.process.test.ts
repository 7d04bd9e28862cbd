/** The image's entrypoint: it migrates, waits for what passes, explains what does not, and becomes what it starts. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  createTestDatabase,
  freePort,
  repositoryRoot,
  startEmbeddedPostgres,
  waitFor,
} from '@fencepost/testing';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { runStart, spawnStart, type StartRun } from './fixtures/run-start.ts';

/** The key of Prisma's migration lock. */
const MIGRATION_LOCK = 72_707_369;
/** Makes tables, so that it fails where it is tried again. */
const MAKES_TABLES = '20261130000100_example_app';

const endedWith = (code: number) => ({ code, signal: null, output: expect.any(String) as string });
const succeeded = endedWith(0);
const failed = endedWith(1);

test('four that start at once migrate an empty database once, and all of them go on', async () => {
  const { url, query } = await openDatabase();
  await query('DROP SCHEMA public CASCADE');
  await query('CREATE SCHEMA public');

  const runs = [1, 2, 3, 4].map(() => runStart({ env: { DATABASE_URL: url } }));
  for (const run of runs) {
    expect(await run.exited).toEqual(succeeded);
    expect(run.output()).toContain('it runs');
  }
  const applied = await query('SELECT migration_name FROM _prisma_migrations');
  expect(applied.length).toBeGreaterThan(0);
  expect(new Set(applied.map((row) => row['migration_name'])).size).toBe(applied.length);
  expect(await query('SELECT FROM job_queue')).toEqual([]);
});

test('it becomes the process that it starts: the same pid, and signals reach it', async () => {
  const { url } = await openDatabase();
  const run = runStart({
    env: { DATABASE_URL: url },
    script: `
      process.on('SIGTERM', () => { console.log('drained'); process.exit(7); });
      setInterval(() => {}, 1_000);
      console.log('pid ' + process.pid);`,
  });
  await run.says(`pid ${run.pid}\n`);
  run.signal('SIGTERM');
  expect(await run.exited).toEqual(endedWith(7));
  expect(run.output()).toContain('drained');
});

test('a failed migration is explained, not tried again, and settled by the command in the explanation', async () => {
  const { url, query } = await openDatabase();
  await query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [MAKES_TABLES]);

  const first = await explains(MAKES_TABLES, url);
  expect(first.output()).toContain('P3018');
  const second = await explains(MAKES_TABLES, url);
  expect(second.output()).toContain('P3009');

  const [, command = ''] = /^start: +node (.* --applied .*)$/m.exec(second.output()) ?? [];
  await promisify(execFile)(process.execPath, command.split(' '), {
    cwd: repositoryRoot,
    env: { ...process.env, DATABASE_URL: url },
  });
  const third = runStart({ env: { DATABASE_URL: url } });
  expect(await third.exited).toEqual(succeeded);
});

test('a failed migration of a later release is explained, and keeps nothing from starting', async () => {
  const { url, query } = await openDatabase();
  const name = '20990101000000_later';
  await query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
     VALUES ('later', 'later', $1, now())`,
    [name],
  );
  const run = runStart({ env: { DATABASE_URL: url } });
  expect(await run.exited).toEqual(succeeded);
  expect(run.output()).toContain(`node db/engine/prisma.mjs migrate resolve --rolled-back ${name}`);
  expect(run.output()).toContain('it runs');
});

test('while another holds the migration lock it tries again, up to its limit', async () => {
  const { url, query } = await openDatabase();
  await query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
  const patient = runStart({ env: { DATABASE_URL: url } });
  const impatient = runStart({ env: { DATABASE_URL: url, MIGRATE_WAIT_SECONDS: '0' } });

  expect(await impatient.exited).toEqual(failed);
  expect(impatient.output()).toContain('gave up after 0 seconds: another machine holds the migration lock');
  expect(impatient.output()).not.toContain('it runs');

  await patient.says('another machine holds the migration lock, trying again');
  expect(patient.output()).not.toContain('it runs');
  await query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
  expect(await patient.exited).toEqual(succeeded);
  expect(patient.output()).toContain('it runs');
});

test('a database that cannot be reached is waited for, up to the limit', async () => {
  const password = 'kept-to-itself';
  const run = runStart({
    env: {
      DATABASE_URL: `postgresql://user:${password}@127.0.0.1:${await freePort()}/database`,
      MIGRATE_WAIT_SECONDS: '3',
    },
  });
  expect(await run.exited).toEqual(failed);
  expect(run.output()).toContain('gave up after 3 seconds: the database cannot be reached');
  expect(run.output()).not.toContain('it runs');
  expect(run.output()).not.toContain(password);
});

test('a database that is going down and comes up again is waited for', async () => {
  const server = await startEmbeddedPostgres();
  onTestFinished(server.stop);
  const session = await connect(server.url);
  const { rows } = await session.query<{ pid: number }>(
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid",
  );
  // A smart shutdown: it refuses newcomers and waits for the session that is open.
  process.kill(rows[0]?.pid ?? 0, 'SIGTERM');

  const run = runStart({ env: { DATABASE_URL: server.url } });
  await run.says('the database is starting or stopping, trying again');
  await session.end();
  await run.says('the database cannot be reached, trying again');
  await server.resume();
  expect(await run.exited).toEqual(succeeded);
  expect(run.output()).not.toContain(new URL(server.url).password);
});

test('a database that is out of connections is waited for', async () => {
  const { url, query } = await openDatabase();
  const role = `start_${new URL(url).pathname.slice(-8)}`;
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'role' CONNECTION LIMIT 0`);
  onTestFinished(async () => void (await query(`DROP ROLE ${role}`)));
  const asRole = new URL(url);
  asRole.username = role;
  asRole.password = 'role';

  const run = runStart({ env: { DATABASE_URL: asRole.href } });
  await run.says('the database is out of connections, trying again');
  await query(`ALTER ROLE ${role} SUPERUSER CONNECTION LIMIT -1`);
  expect(await run.exited).toEqual(succeeded);
});

test('what another try would not help ends at once', async () => {
  const run = runStart({ env: { DATABASE_URL: 'postgresql://user:kept/to/itself@127.0.0.1/database' } });
  expect(await run.exited).toEqual(failed);
  expect(run.output()).toContain('DATABASE_URL is wrong');
  expect(run.output()).not.toContain('trying again');
  expect(run.output()).not.toContain('itself');
  expect(run.output()).not.toContain('it runs');
});

test('a stop while it migrates waits for the migration and starts nothing', async () => {
  const { url, query } = await openDatabase();
  await query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
  const run = runStart({ env: { DATABASE_URL: url } });
  await waitFor(
    () =>
      query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${MIGRATION_LOCK} AND NOT granted`,
      ).then((waiting) => waiting.length > 0),
    { timeout: 60_000 },
  );
  run.signal('SIGTERM');
  await query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
  expect(await run.exited).toEqual(endedWith(143));
  expect(run.output()).toContain('No pending migrations');
  expect(run.output()).not.toContain('it runs');
});

test('it migrates around a transaction pooler, and the process gets its settings as they were', async () => {
  const { url } = await openDatabase();
  const pooled = `postgresql://user:password@127.0.0.1:${await freePort()}/database?pgbouncer=true`;
  const run = runStart({
    env: { DATABASE_URL: pooled, DIRECT_URL: url },
    script: 'console.log(process.env.DATABASE_URL)',
  });
  expect(await run.exited).toEqual(succeeded);
  expect(run.output()).toContain(`${pooled}\n`);
});

test('a wrong setting and a missing command are told in one line', async () => {
  const setting = runStart({ env: { MIGRATE_WAIT_SECONDS: '5m' } });
  expect(await setting.exited).toEqual(failed);
  expect(setting.output()).toBe(
    'start: MIGRATE_WAIT_SECONDS: expected a whole number of seconds from 0 to 99999, found "5m"\n',
  );
  const command = spawnStart([], {});
  expect(await command.exited).toEqual(failed);
  expect(command.output()).toBe(
    'start: expected a command to start, such as "node apps/worker/dist/main.js", found none\n',
  );
});

async function explains(migration: string, url: string): Promise<StartRun> {
  const run = runStart({ env: { DATABASE_URL: url } });
  expect(await run.exited).toEqual(failed);
  expect(run.output()).toContain(`node db/engine/prisma.mjs migrate resolve --rolled-back ${migration}`);
  expect(run.output()).toContain(`node db/engine/prisma.mjs migrate resolve --applied ${migration}`);
  expect(run.output()).not.toContain('trying again');
  expect(run.output()).not.toContain('it runs');
  return run;
}

/** A migrated database, and one session in it. */
async function openDatabase() {
  const { url } = await createTestDatabase();
  const client = await connect(url);
  const query = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await client.query<Record<string, unknown>>(sql, values)).rows;
  return { url, query };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // Whatever ends the session is seen by its next query.
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
