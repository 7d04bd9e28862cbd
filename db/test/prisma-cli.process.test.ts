/** The Prisma CLI with the schema engine as WebAssembly, from end to end. */
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase, waitFor } from '@fencepost/testing';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { inDatabase, sql, unusedDatabaseName } from './support/databases.ts';
import { packageFolder, prisma, startPrisma } from './support/prisma.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

describe('migrate deploy', () => {
  it('started four times at once on a server without the database creates it and applies each migration once', async () => {
    const target = inDatabase(url, unusedDatabaseName());
    try {
      const runs = await Promise.all([1, 2, 3, 4].map(() => prisma(target, 'migrate', 'deploy')));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        runs.map(() => ({ code: 0, stderr: expect.not.stringContaining('Error') })),
      );
      const applied = await sql<{ migration_name: string; times: number }>(
        target,
        `SELECT migration_name, count(*)::int AS times FROM _prisma_migrations GROUP BY migration_name`,
      );
      expect(applied.length).toBeGreaterThan(0);
      expect(applied.map(({ times }) => times)).toEqual(applied.map(() => 1));
    } finally {
      await sql(url, `DROP DATABASE IF EXISTS ${new URL(target).pathname.slice(1)} WITH (FORCE)`);
    }
  });
});

it('a signal reaches the CLI, and its end is passed on', async () => {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(72707369)');
  const waiters = () =>
    sql(
      url,
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event = 'advisory' AND application_name = 'fencepost-schema-engine'`,
    );
  try {
    const deploy = startPrisma(url, 'migrate', 'deploy');
    await waitFor(async () => (await waiters()).length === 1, { timeout: 60_000 });
    deploy.signal('SIGTERM');
    expect(await deploy.finished).toMatchObject({ code: 143 });
  } finally {
    await holder.end();
  }
  await waitFor(async () => (await waiters()).length === 0);
});

describe('migrate status', () => {
  it.each([
    ["P1001: Can't reach database server at `127.0.0.1:1`", 'postgresql://someone:hunter2@127.0.0.1:1/app'],
    ['P1003: Database `fencepost_missing` does not exist', 'missing'],
    ['P1000: Authentication failed against database server', 'nobody'],
  ])('says %s', async (message, given) => {
    const target = new URL(given.startsWith('postgresql:') ? given : url);
    if (given === 'missing') target.pathname = '/fencepost_missing';
    if (given === 'nobody') Object.assign(target, { username: 'fencepost_nobody', password: 'hunter2' });
    const { code, stdout, stderr } = await prisma(target.href, 'migrate', 'status');
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stdout + stderr).not.toContain(target.password || 'hunter2');
  });
});

describe('DATABASE_URL', () => {
  it.each([
    [
      undefined,
      /^DATABASE_URL is not set, and "prisma migrate deploy" needs a database; expected postgresql:\/\/.*\n$/,
    ],
    ['', /^DATABASE_URL is not set, .*\n$/],
    ['mysql://root:hunter2@host/app', /^DATABASE_URL is wrong: .*"mysql:"; allowed are "postgresql:".*\n$/],
    ['postgresql://u:hunter2/@host/app', /^DATABASE_URL is wrong: .*percent-encoded\.\n$/],
  ])('%j gets one line and exit code 1', async (given, line) => {
    const { code, stdout, stderr } = await prisma(given, 'migrate', 'deploy');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr).not.toContain('hunter2');
  });

  it('is not needed to generate the client', async () => {
    await mkdir(join(packageFolder, '.data'), { recursive: true });
    const folder = await mkdtemp(join(packageFolder, '.data/generate-'));
    try {
      await cp(join(packageFolder, 'prisma'), join(folder, 'prisma'), { recursive: true });
      await cp(join(packageFolder, 'prisma.config.ts'), join(folder, 'prisma.config.ts'));
      const run = await prisma(undefined, 'generate', '--config', join(folder, 'prisma.config.ts'));
      expect(run).toMatchObject({ code: 0 });
      expect(await readFile(join(folder, 'src/generated/client.ts'), 'utf8')).toContain('PrismaClient');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
