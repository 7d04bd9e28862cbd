import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { connect } from '../src/databases/connection.ts';
import { startTestRun, templateName } from '../src/databases/template.ts';
import { assertDatabaseUrl, withDatabase } from '../src/databases/url.ts';
import { createTestDatabase, TestDatabaseError, withoutPassword } from '../src/index.ts';

const adminUrl = (JSON.parse(process.env['FENCEPOST_TEST_SERVER'] ?? '{}') as { adminUrl: string }).adminUrl;

async function query<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = await connect(url);
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function databases(): Promise<string[]> {
  return (await query<{ datname: string }>(adminUrl, 'SELECT datname FROM pg_database')).map(
    (row) => row.datname,
  );
}

describe('createTestDatabase', () => {
  test('is migrated, empty and apart from every other', async () => {
    const [a, b] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(a.url, "INSERT INTO job_queue (type, payload) VALUES ('a', '{}')");
    expect(await query(a.url, 'SELECT type FROM job_queue')).toEqual([{ type: 'a' }]);
    expect(await query(b.url, 'SELECT type FROM job_queue')).toEqual([]);
  });

  test('ten at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => createTestDatabase()));
    expect(new Set(made.map(({ url }) => url)).size).toBe(10);
    await Promise.all(made.map(({ drop }) => drop()));
  });

  test('is dropped in spite of an open connection, which survives that as an error and no crash', async () => {
    const { url, drop } = await createTestDatabase();
    const client = await connect(url);
    await drop();
    expect(await databases()).not.toContain(new URL(url).pathname.slice(1));
    await expect(client.query('SELECT 1')).rejects.toThrow(/not queryable|terminat/);
  });
});

describe('a test run', () => {
  test('drops the databases of a run that was killed, and spares those of one at work', async () => {
    await query(adminUrl, 'CREATE DATABASE fencepost_template_00000000');
    await query(adminUrl, 'CREATE DATABASE fencepost_test_00000000_cafecafe');
    const mine = await createTestDatabase();

    const run = await startTestRun(adminUrl);
    const during = await databases();
    expect(during).not.toContain('fencepost_template_00000000');
    expect(during).not.toContain('fencepost_test_00000000_cafecafe');
    expect(during).toContain(new URL(mine.url).pathname.slice(1));
    expect(during).toContain(`fencepost_template_${run.run}`);

    await run.end();
    expect(await databases()).not.toContain(`fencepost_template_${run.run}`);
  });

  test('clones a template that is migrated already, where one is named', async () => {
    const { url: migrated } = await createTestDatabase();
    await query(migrated, 'CREATE TABLE seen_in_the_clone ()');
    const run = await startTestRun(adminUrl, new URL(migrated).pathname.slice(1));
    const name = `fencepost_test_${run.run}_clone`;
    await query(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${templateName(run.run)}`);
    expect(await query(withDatabase(adminUrl, name), 'SELECT FROM seen_in_the_clone')).toEqual([]);
    await run.end();
  });

  test('says which server does not answer, without its password', async () => {
    const failing = startTestRun('postgresql://someone:hunter2@127.0.0.1:1/postgres?sslmode=disable');
    await expect(failing).rejects.toThrow(
      'cannot connect to postgresql://someone@127.0.0.1:1/postgres: connect ECONNREFUSED 127.0.0.1:1',
    );
  });
});

test.each([
  ['nonsense:5', 'the protocol "nonsense:"'],
  ['hunter2', '7 characters that are no URL'],
  ['mysql://ada:hunter2@db.test/app', 'the protocol "mysql:"'],
  ['postgresql://ada:hunter2@db.test', 'no database in it'],
])('the wrong URL %s is refused without being shown', (url, found) => {
  expect(() => assertDatabaseUrl('TEST_DATABASE_URL', url)).toThrow(
    new TestDatabaseError(
      `TEST_DATABASE_URL is not the URL of a database: found ${found}, expected postgresql://user:password@host:5432/database`,
    ),
  );
});

test('withoutPassword hides passwords wherever they stand', () => {
  expect(withoutPassword('postgresql://ada:hunter2@db.test:5433/app?password=hunter2')).toBe(
    'postgresql://ada@db.test:5433/app',
  );
});
