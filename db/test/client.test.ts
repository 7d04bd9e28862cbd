/** Sessions, statements and connections of the clients that `createPrisma` builds. */
import { createTestDatabase, waitFor } from '@fencepost/testing';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createPgClient,
  createPrisma,
  DatabaseUrlError,
  type PrismaClient,
  type PoolOptions,
} from '../src/index.ts';
import { sql } from './support/databases.ts';
import { startForgetfulPooler } from './support/pooler.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

const open: PrismaClient[] = [];
afterEach(async () => {
  for (const prisma of open.splice(0)) await prisma.$disconnect();
});

function create(address: string, options?: PoolOptions): PrismaClient {
  const prisma = createPrisma(address, options);
  open.push(prisma);
  return prisma;
}

function withParameters(address: string, parameters: Record<string, string>): string {
  const changed = new URL(address);
  for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, value);
  return changed.href;
}

describe('time', () => {
  const instant = new Date('2026-03-29T01:30:00.123Z');

  it.each(['DATABASE', 'ROLE CURRENT_USER IN DATABASE'])(
    'is not shifted by ALTER %s … SET timezone',
    async (whose) => {
      const { url: elsewhere } = await createTestDatabase();
      const alter = `ALTER ${whose} ${new URL(elsewhere).pathname.slice(1)}`;
      await sql(elsewhere, `${alter} SET timezone = 'Asia/Tokyo'`, `${alter} SET datestyle = 'German'`);
      expect(await sql(elsewhere, 'SHOW timezone')).toEqual([{ TimeZone: 'Asia/Tokyo' }]);

      const prisma = create(elsewhere);
      const { id } = await prisma.jobQueue.create({ data: { type: 'test.time', runAt: instant } });
      const job = await prisma.jobQueue.findUniqueOrThrow({ where: { id } });
      expect(job.runAt).toEqual(instant);
      expect(
        await sql(elsewhere, 'SELECT extract(epoch FROM "runAt")::text AS epoch FROM job_queue'),
      ).toEqual([{ epoch: '1774747800.123000' }]);
      expect(await prisma.$queryRaw`SELECT ${instant}::timestamptz AS instant`).toEqual([{ instant }]);
      expect(
        await prisma.$transaction((tx) => tx.$queryRaw`SELECT ${instant}::timestamptz AS instant`),
      ).toEqual([{ instant }]);
    },
  );

  it('is refused in a session that is not in UTC in spite of everything', async () => {
    const { url: elsewhere } = await createTestDatabase();
    await sql(
      elsewhere,
      `ALTER DATABASE ${new URL(elsewhere).pathname.slice(1)} SET timezone = 'Asia/Tokyo'`,
    );
    const pooler = await startForgetfulPooler(elsewhere);
    try {
      await expect(create(pooler.url).jobQueue.count()).rejects.toMatchObject({
        code: 'SESSION_TIME_ZONE',
        message: expect.stringContaining('in the time zone "Asia/Tokyo"'),
      });
      await sql(elsewhere, `ALTER DATABASE ${new URL(elsewhere).pathname.slice(1)} SET timezone = 'UTC'`);
      await expect(create(pooler.url).jobQueue.count()).resolves.toBe(0);
    } finally {
      pooler.close();
    }
  });

  it('of a new row is the clock of the database', async () => {
    vi.useFakeTimers({ now: new Date('2001-01-01'), toFake: ['Date'] });
    try {
      const { id } = await create(url).jobQueue.create({ data: { type: 'test.clock' } });
      const [row] = await sql(
        url,
        `SELECT FROM job_queue
         WHERE id = '${id}' AND "runAt" > now() - interval '1 minute' AND "createdAt" > now() - interval '1 minute'`,
      );
      expect(row).toBeDefined();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('statements', () => {
  const prepared = `SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name LIKE 'fencepost_%'`;

  async function countPrepared(parameters: Record<string, string>): Promise<number> {
    const prisma = create(withParameters(url, parameters), { poolSize: 1 });
    for (const id of [1, 2, 3]) await prisma.$queryRawUnsafe(`SELECT ${id}`);
    await prisma.$transaction([prisma.jobQueue.count(), prisma.event.count()]);
    const [row] = await prisma.$queryRawUnsafe<{ count: number }[]>(prepared);
    return row?.count ?? Number.NaN;
  }

  it('are prepared by name', async () => {
    // Three, the transaction's, and the one that counts.
    expect(await countPrepared({})).toBeGreaterThanOrEqual(6);
  });

  it('are not prepared behind a transaction pooler, nor where the URL says so', async () => {
    expect(await countPrepared({ pgbouncer: 'true' })).toBe(0);
    expect(await countPrepared({ statement_cache_size: '0' })).toBe(0);
    expect(await countPrepared({ statement_cache_size: '2' })).toBe(2);
  });

  it('go on after one of them failed in a transaction', async () => {
    const prisma = create(url, { poolSize: 1 });
    for (let round = 0; round < 2; round += 1) {
      const failure = prisma.$transaction(async (tx) => {
        await tx.jobQueue.count();
        await tx.$queryRaw`SELECT 1 / 0`;
      });
      await expect(failure).rejects.toThrow('division by zero');
      expect(await prisma.jobQueue.count()).toBeTypeOf('number');
    }
  });
});

describe('connections', () => {
  it('carry their name, are no more than allowed, and are gone after $disconnect', async () => {
    const sessions = () =>
      sql<{ application_name: string }>(
        url,
        `SELECT application_name FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'pool-test%'`,
      );
    const prisma = createPrisma(withParameters(url, { connection_limit: '2' }), {
      applicationName: 'pool-test',
      poolSize: 5,
    });
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => prisma.$queryRaw`SELECT pg_sleep(0.02)::text`));
    expect(await sessions()).toEqual([{ application_name: 'pool-test' }, { application_name: 'pool-test' }]);
    await prisma.$disconnect();
    await waitFor(async () => (await sessions()).length === 0);
  });

  it('that break while idle are told, without the client, and replaced', async () => {
    const errors: Error[] = [];
    const prisma = create(url, { applicationName: 'breaks', onPoolError: (error) => errors.push(error) });
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breaks'`;
    await prisma.jobQueue.count();
    await sql(url, terminate);
    await waitFor(() => errors.length > 0);
    expect(errors[0]?.message).toContain('terminating connection');
    expect(errors[0]).not.toHaveProperty('client');
    expect(await prisma.jobQueue.count()).toBeTypeOf('number');
  });

  it('that break in a transaction fail it, and no listener is missing', async () => {
    const prisma = create(url, { applicationName: 'breaks-in-transaction' });
    const broken = prisma.$transaction(async (tx) => {
      await tx.jobQueue.count();
      await sql(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breaks-in-transaction'`,
      );
      await tx.jobQueue.count();
    });
    await expect(broken).rejects.toThrow(/terminat|not queryable/);
    expect(await prisma.jobQueue.count()).toBeTypeOf('number');
  });

  it('of one’s own beside the pool are in UTC as well, and listen', async () => {
    const errors: Error[] = [];
    const client = createPgClient(url, {
      applicationName: 'listener',
      onError: (error) => errors.push(error),
    });
    const heard: string[] = [];
    client.on('notification', ({ channel }) => heard.push(channel));
    await client.connect();
    client.assertUtc();
    await client.query('LISTEN client_test');
    await sql(url, 'NOTIFY client_test');
    await waitFor(() => heard.length > 0);
    await sql(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener'`,
    );
    await waitFor(() => errors.length > 0);
  });
});

it('the schema of the URL is where models and raw SQL look', async () => {
  const { url: database } = await createTestDatabase();
  await sql(database, 'ALTER SCHEMA public RENAME TO other', 'CREATE SCHEMA public');
  const prisma = create(withParameters(database, { schema: 'other' }));
  await prisma.event.create({ data: { type: 'test.schema', payload: {} } });
  expect(await prisma.$queryRaw`SELECT type FROM event`).toEqual([{ type: 'test.schema' }]);
});

it('undefined in a where clause is refused, not dropped', async () => {
  const where = { id: undefined } as unknown as { id: string };
  await expect(create(url).jobQueue.updateMany({ where, data: { attempts: 1 } })).rejects.toThrow(
    'undefined',
  );
});

it('a wrong URL is refused before anything connects', () => {
  expect(() => createPrisma('mysql://u:hunter2@host/app')).toThrow(DatabaseUrlError);
});

describe('plans', () => {
  const settings = async (address: string, options?: PoolOptions) => {
    const rows = await create(address, options).$queryRaw<{ name: string; setting: string }[]>`
      SELECT name, setting FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_seqscan', 'jit')`;
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  };

  it('are made once a connection and by index for a pool of the queue’s own', async () => {
    const asTheServerSays = await settings(url);
    expect(asTheServerSays).toMatchObject({ plan_cache_mode: 'auto', enable_seqscan: 'on' });
    const fixed = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };
    expect(await settings(url, { fixedPlans: true })).toEqual(fixed);
    // Its sessions are everybody's.
    const pooled = withParameters(url, { pgbouncer: 'true' });
    expect(await settings(pooled, { fixedPlans: true })).toEqual(asTheServerSays);
  });
});
