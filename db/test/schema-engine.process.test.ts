/** The schema engine as WebAssembly: what had to be mended stays mended. */
import { waitFor } from '@fencepost/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, inDatabase, sql, unusedDatabaseName } from './support/databases.ts';
import { applying, diffing, runEngineCommand, startEngine } from './support/engine-process.ts';

let url: string;
beforeAll(async () => {
  url = await createEmptyDatabase();
});

async function tablesOf(database: string): Promise<string[]> {
  const rows = await sql<{ tablename: string }>(
    database,
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  return rows.map(({ tablename }) => tablename);
}

async function exists(database: string): Promise<boolean> {
  const rows = await sql(url, `SELECT FROM pg_database WHERE datname = '${database}'`);
  return rows.length > 0;
}

describe('scripts', () => {
  it('are sent whole, function bodies included, in the session that holds the migration lock, in UTC', async () => {
    const database = await createEmptyDatabase();
    const name = new URL(database).pathname.slice(1);
    await sql(database, `ALTER DATABASE ${name} SET timezone = 'Asia/Tokyo'`);
    const engine = startEngine({ url: database });
    const result = await engine.call(
      'applyMigrations',
      applying({
        '20260101000000_function': `
          CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$
          BEGIN
            n := n * 2; -- a comment; with a semicolon
            RETURN n;
          END $$;
          CREATE TABLE seen AS
            SELECT twice(21) AS answer, current_setting('TimeZone') AS zone, count(*)::int AS locks
            FROM pg_locks
            WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objid = 72707369 AND granted;`,
      }),
    );
    expect(result).toEqual({ appliedMigrationNames: ['20260101000000_function'] });
    expect(await sql(database, 'SELECT * FROM seen')).toEqual([{ answer: 42, zone: 'UTC', locks: 1 }]);
    expect(await engine.end()).toBe(0);
  });

  it('may be one statement that refuses to run in a transaction', async () => {
    const database = await createEmptyDatabase();
    const engine = startEngine({ url: database });
    await engine.call(
      'applyMigrations',
      applying({
        '20260101000000_table': 'CREATE TABLE thing (n int);',
        '20260101000001_index': '-- While others write.\nCREATE INDEX CONCURRENTLY thing_n ON thing (n);',
      }),
    );
    expect(await sql(database, `SELECT FROM pg_indexes WHERE indexname = 'thing_n'`)).toHaveLength(1);
    await engine.end();
  });

  it('that fail are reported as Prisma does, with the place', async () => {
    const database = await createEmptyDatabase();
    const migrations = applying({
      '20260101000000_wrong': `CREATE TABLE thing (name text);\n-- ü\nINSERT INTO thing (nam) VALUES ('x');`,
    });
    const engine = startEngine({ url: database });
    expect(await engine.fail('applyMigrations', migrations)).toMatchObject({
      is_panic: false,
      error_code: 'P3018',
      message: expect.stringMatching(
        /^A migration failed to apply\. .*Migration name: 20260101000000_wrong\n\nDatabase error:\nERROR: column "nam" of relation "thing" does not exist \(42703\)\nLINE 3: INSERT INTO thing/s,
      ),
    });
    expect(await engine.fail('applyMigrations', migrations)).toMatchObject({ error_code: 'P3009' });
    expect(await tablesOf(database)).toEqual(['_prisma_migrations']);
    await engine.end();
  });
});

describe('the shadow database', () => {
  /** Leaves the name of the database it runs in where the diff shows it. */
  const signature = `DO $$ BEGIN EXECUTE format('CREATE TABLE %I ()', current_database()); END $$;`;

  it('is another one than the real one, and is gone afterwards', async () => {
    const engine = startEngine({ url });
    await engine.call('diff', diffing({ '20260101000000_signature': signature }, ''));
    const shadow = /DROP TABLE "(prisma_migrate_shadow_db_[^"]+)"/.exec(engine.printed.join('\n'))?.[1] ?? '';
    expect(shadow).toMatch(/^prisma_migrate_shadow_db_[0-9a-f-]{36}$/);
    expect(await tablesOf(url)).toEqual([]);
    expect(await exists(shadow)).toBe(false);
    await engine.end();
  });

  it('is gone when the migrations fail in it', async () => {
    const engine = startEngine({ url });
    const { error_code, message } = await engine.fail(
      'diff',
      diffing(
        { '20260101000000_fails': `DO $$ BEGIN RAISE EXCEPTION 'in %', current_database(); END $$;` },
        '',
      ),
    );
    expect(error_code).toBe('P3006');
    const shadow = /in (prisma_migrate_shadow_db_[0-9a-f-]{36})/.exec(message)?.[1] ?? '';
    expect(shadow).not.toBe('');
    expect(await exists(shadow)).toBe(false);
    await engine.end();
  });

  it('is gone when a second signal ends the engine in the middle', async () => {
    const engine = startEngine({ url });
    const failure = engine
      .fail('diff', diffing({ '20260101000000_slow': 'SELECT pg_sleep(60.0625);' }, ''))
      .catch(() => undefined);
    const shadow = await waitFor(async () => {
      const rows = await sql<{ datname: string }>(
        url,
        `SELECT datname FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60.0625);' AND state = 'active'`,
      );
      return rows[0]?.datname;
    });
    engine.signal('SIGTERM');
    engine.signal('SIGINT');
    expect(await engine.exited).toEqual([1, null]);
    expect(await exists(shadow)).toBe(false);
    await failure;
  });

  it('is made on the server that a URL of its own names', async () => {
    const elsewhere = new URL(url);
    elsewhere.port = '1';
    const engine = startEngine({ url, shadowDatabaseUrl: elsewhere.href });
    expect(await engine.call('getDatabaseVersion', undefined)).toMatch(/^PostgreSQL /);
    const failure = await engine.fail('diff', diffing({ '20260101000000_signature': signature }, ''));
    expect(failure).toMatchObject({
      error_code: 'P3014',
      message: expect.stringMatching(/not reachable: .+:1\n/),
    });
    await engine.end();
  });
});

it('reads catalog columns of type char: a table with a CHECK can be compared', async () => {
  const engine = startEngine({ url });
  const result = await engine.call(
    'diff',
    diffing(
      { '20260101000000_check': 'CREATE TABLE "Thing" (id int PRIMARY KEY, n int NOT NULL CHECK (n > 0));' },
      'model Thing {\n  id Int @id\n  n Int\n}\n',
    ),
  );
  expect(result).toMatchObject({ exitCode: 0 });
  await engine.end();
});

describe('conversation', () => {
  it('answers a method that it does not have, and goes on', async () => {
    const engine = startEngine({ url });
    expect(await engine.fail('getDatabaseDescription', {})).toMatchObject({
      message: 'The schema engine has no method getDatabaseDescription.',
    });
    expect(await engine.call('getDatabaseVersion', undefined)).toMatch(/^PostgreSQL /);
    await engine.end();
  });

  it('answers a request that it does not understand', async () => {
    const engine = startEngine({ url });
    expect(await engine.fail('diff', { from: { tag: 'nowhere' } })).toMatchObject({
      is_panic: false,
      message: expect.stringContaining('unknown variant `nowhere`'),
    });
    await engine.end();
  });

  it('tells why the engine panicked', async () => {
    const engine = startEngine({ url });
    expect(await engine.fail('debugPanic', undefined)).toMatchObject({
      is_panic: true,
      message: expect.stringContaining('This is the debugPanic artificial panic'),
    });
    await engine.end();
  });

  it('lets a migration in flight finish when a signal says to stop', async () => {
    const database = await createEmptyDatabase();
    const engine = startEngine({ url: database });
    const applied = engine.call(
      'applyMigrations',
      applying({ '20260101000000_slow': 'SELECT pg_sleep(1.03125);\nCREATE TABLE done ();' }),
    );
    await waitFor(() =>
      sql(database, `SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(1.03125)%'`).then(
        ({ length }) => length > 0,
      ),
    );
    engine.signal('SIGTERM');
    await applied;
    expect(await engine.exited).toEqual([0, null]);
    expect(await sql(database, 'SELECT FROM _prisma_migrations WHERE finished_at IS NOT NULL')).toHaveLength(
      1,
    );
  });
});

describe('one-shot commands', () => {
  it.each([
    ['P1001', (target: URL) => (target.port = '1')],
    ['P1001', (target: URL) => (target.host = 'localhost:1')],
    ['P1003', (target: URL) => (target.pathname = '/fencepost_missing')],
    ['P1000', (target: URL) => ((target.username = 'fencepost_nobody'), (target.password = 'hunter2'))],
  ])('say %s in the form that the CLI reads, without the password', async (code, change) => {
    const target = new URL(url);
    change(target);
    const { code: exitCode, stderr } = await runEngineCommand(target.href, 'can-connect-to-database');
    expect(exitCode).toBe(1);
    const [first, second, ...rest] = stderr.split('\n');
    expect(first).toBe('');
    expect(JSON.parse(second ?? '')).toMatchObject({
      level: 'ERROR',
      target: 'schema_engine::logger',
      fields: { error_code: code },
    });
    expect(rest).toEqual(['']);
    expect(stderr).not.toContain(target.password || 'hunter2');
  });

  it('refuse a transaction pooler', async () => {
    const { code, stderr } = await runEngineCommand(`${url}?pgbouncer=true`, 'can-connect-to-database');
    expect(code).toBe(1);
    expect(stderr).toContain('a transaction pooler gives migrations no session of their own');
  });

  it('create a database once, however many want it at the same time', async () => {
    const target = inDatabase(url, unusedDatabaseName());
    try {
      const outcomes = await Promise.all([1, 2, 3].map(() => runEngineCommand(target, 'create-database')));
      expect(outcomes).toEqual(outcomes.map(() => ({ code: 0, stderr: '' })));
      expect(await runEngineCommand(target, 'can-connect-to-database')).toEqual({ code: 0, stderr: '' });
    } finally {
      await sql(url, `DROP DATABASE IF EXISTS ${new URL(target).pathname.slice(1)} WITH (FORCE)`);
    }
  });
});
