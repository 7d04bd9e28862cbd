/**
 * A migration of ours is applied as a whole or not at all: Postgres runs its file as one transaction, as long as nothing
 * in it ends that. So whoever finds a failed one need not look for half of it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEmptyDatabase, sql } from './support/databases.ts';
import { applying, startEngine } from './support/engine-process.ts';
import { packageFolder } from './support/prisma.ts';

const folder = join(packageFolder, 'prisma/migrations');
const migrations = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted()
  .map((name) => [name, readFileSync(join(folder, name, 'migration.sql'), 'utf8')] as const);

it.each(migrations.map(([name], index) => [name, index] as const))(
  'of %s, which fails at its very end, nothing is left',
  async (name, index) => {
    const url = await createEmptyDatabase();
    const engine = startEngine({ url });
    const earlier = Object.fromEntries(migrations.slice(0, index));
    await engine.call('applyMigrations', applying(earlier));
    const before = await catalog(url);

    const failing = `${migrations[index]?.[1]};\nSELECT 1 / 0;`;
    const failure = await engine.fail('applyMigrations', applying({ ...earlier, [name]: failing }));
    expect(failure).toMatchObject({
      error_code: 'P3018',
      message: expect.stringContaining('division by zero'),
    });
    expect(await catalog(url)).toEqual(before);
    await engine.end();
  },
);

/** Everything that a migration could have made, in words. */
async function catalog(url: string): Promise<string[]> {
  const rows = await sql<{ entry: string }>(
    url,
    `SELECT concat_ws(' ', kind, name, definition) AS entry
     FROM (
       SELECT 'relation', relname::text, reloptions::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
       UNION ALL
       SELECT 'column', attrelid::regclass || '.' || attname, format_type(atttypid, atttypmod)
       FROM pg_attribute
       JOIN pg_class ON pg_class.oid = attrelid
       WHERE relnamespace = 'public'::regnamespace
       UNION ALL
       SELECT 'default', adrelid::regclass || '.' || adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef
       UNION ALL
       SELECT 'constraint', conname, pg_get_constraintdef(oid)
       FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
       UNION ALL
       SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
       UNION ALL
       SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       UNION ALL
       SELECT 'type', typname, NULL FROM pg_type WHERE typnamespace = 'public'::regnamespace
       UNION ALL
       SELECT 'label', enumtypid::regtype::text, enumlabel FROM pg_enum
     ) AS made(kind, name, definition)
     ORDER BY entry`,
  );
  return rows.map(({ entry }) => entry).filter((entry) => !entry.includes('_prisma_migrations'));
}
