/** The storage parameters of job_queue: what they are, and that a rolling deploy may set them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from '@fencepost/testing';
import pg from 'pg';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { sql } from './support/databases.ts';
import { packageFolder } from './support/prisma.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

it('are these, and apply to its TOAST as well', async () => {
  const parameters = (relation: string) =>
    sql<{ reloptions: string[] | null }>(url, `SELECT reloptions FROM pg_class WHERE oid = ${relation}`).then(
      ([row]) => row?.reloptions?.toSorted() ?? [],
    );
  expect(await parameters("'job_queue'::regclass")).toEqual([
    'autovacuum_vacuum_scale_factor=0.01',
    'autovacuum_vacuum_threshold=1000',
    'fillfactor=85',
  ]);
  // TOAST that has none of its own is vacuumed as its table is.
  const toast = "(SELECT reltoastrelid FROM pg_class WHERE oid = 'job_queue'::regclass)";
  expect(await parameters(toast)).toEqual([]);
});

it('are set while transactions of old and new code have the table in use, without waiting for them', async () => {
  const migration = readFileSync(
    join(packageFolder, 'prisma/migrations/20261130120000_job_queue_storage/migration.sql'),
    'utf8',
  );
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN');
  await holder.query(`INSERT INTO job_queue (type) VALUES ('test.storage')`);
  await holder.query(`UPDATE job_queue SET priority = 1 WHERE type = 'test.storage'`);

  const migrating = sql(
    url,
    `SET lock_timeout = '5s'`,
    'ALTER TABLE job_queue RESET (fillfactor)',
    migration,
  );
  await expect(migrating).resolves.toEqual([]);
  await holder.query('COMMIT');
});
