/** The migrations' folder keeps its rules, and the rules are ones that can be broken. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@fencepost/testing';
import { describe, expect, it } from 'vitest';
import { checkIndexes, checkOrder } from './support/migration-rules.ts';
import { packageFolder } from './support/prisma.ts';
import { splitStatements } from './support/sql-statements.ts';

const folder = join(packageFolder, 'prisma/migrations');
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

// A source archive has no history, and a container may have no git.
const hasHistory = existsSync(join(repositoryRoot, '.git')) && spawnSync('git', ['--version']).status === 0;

describe('the folder', () => {
  it.skipIf(!hasHistory)('sorts in the order in which history has it', () => {
    expect(checkOrder(history())).toEqual([]);
  });

  it.each(names)('%s leaves indexes on existing tables to migrations of their own', (name) => {
    expect(checkIndexes({ name, sql: readFileSync(join(folder, name, 'migration.sql'), 'utf8') })).toEqual(
      [],
    );
  });
});

/** The folders that each commit of the main line brought, oldest first, and then those that are not committed. */
function history(): string[][] {
  const log = execFileSync(
    'git',
    [
      // The clone may belong to another user.
      '-c',
      'safe.directory=*',
      'log',
      '--reverse',
      '--first-parent',
      '-m',
      '--diff-filter=A',
      '--format=%x00',
      '--name-only',
      '--',
      'db/prisma/migrations',
    ],
    { cwd: repositoryRoot, encoding: 'utf8' },
  );
  const present = new Set(names);
  const committed = log.split('\0').map((files) => {
    const added = [...files.matchAll(/^db\/prisma\/migrations\/([^/\n]+)\/migration\.sql$/gm)];
    return added.map(([, name = '']) => name).filter((name) => present.delete(name));
  });
  return [...committed, [...present]];
}

describe('the order', () => {
  it('is broken by a name that is no time, and by one that is no name', () => {
    const wrong = [
      'job_queue',
      '20261330000000_month',
      '20260231000000_day',
      '20261130000000',
      '20261130000000-dash',
    ];
    for (const name of wrong)
      expect(checkOrder([[name]])).toEqual([expect.stringContaining(`${name}: expected`)]);
  });

  it('is broken by a branch that was merged late', () => {
    expect(checkOrder([['20260101000000_a', '20260103000000_c'], ['20260102000000_b']])).toEqual([
      '20260102000000_b: sorts before 20260103000000_c, which came to be earlier',
    ]);
  });

  it('is broken by two at the same second', () => {
    expect(checkOrder([['20260101000000_a', '20260101000000_b']])).toEqual([
      '20260101000000_b: has the time of 20260101000000_a',
    ]);
  });

  it('is kept by several in one commit, however they are listed', () => {
    expect(checkOrder([['20260102000000_b', '20260101000000_a'], [], ['20260103000000_c']])).toEqual([]);
  });
});

describe('an index', () => {
  const problem = [expect.stringContaining('the index on job_queue has to be a migration of its own')];
  it.each([
    ['CREATE INDEX a ON job_queue (type); SELECT 1;', problem],
    [
      'ALTER TABLE job_queue ADD n int; CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a ON ONLY "public"."job_queue" (n);',
      problem,
    ],
    ['CREATE TABLE other (n int); CREATE INDEX ON "job_queue" (type);', problem],
    ["-- why;\nCREATE INDEX CONCURRENTLY a ON job_queue (type) WHERE type <> ';';", []],
    [
      'CREATE TABLE "job_queue" (n int);\nCREATE INDEX a\n  ON "job_queue" (n);\nCREATE INDEX b ON job_queue (n);',
      [],
    ],
  ])('in %j', (sql, problems) => {
    expect(checkIndexes({ name: '20260101000000_x', sql })).toEqual(problems);
  });
});

it('statements are told apart whatever stands in strings, names, comments and function bodies', () => {
  const script = `
    -- one; two
    CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $body$ SELECT ';'; SELECT '$$;'; $body$;
    /* ; */ INSERT INTO "a;b" VALUES ('it''s; so', $$;$$);;
    SELECT 1`;
  expect(splitStatements(script)).toEqual([
    `CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $body$ SELECT ';'; SELECT '$$;'; $body$`,
    `INSERT INTO "a;b" VALUES ('it''s; so', $$;$$)`,
    'SELECT 1',
  ]);
});
