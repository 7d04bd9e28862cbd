/** Databases without the project's migrations, for tests that bring migrations of their own, and a look from outside. */
import { randomBytes } from 'node:crypto';
import { createTestDatabase } from '@fencepost/testing';
import pg from 'pg';

/** The same server and role, another database. */
export function inDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs statements one after the other in a connection of their own; resolves to the last one's rows. */
export async function sql<Row extends pg.QueryResultRow>(
  url: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** An empty database. */
export async function createEmptyDatabase(): Promise<string> {
  const { url } = await createTestDatabase();
  await sql(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public');
  return url;
}

/** A name no database has. */
export function unusedDatabaseName(): string {
  return `fencepost_unused_${randomBytes(6).toString('hex')}`;
}
