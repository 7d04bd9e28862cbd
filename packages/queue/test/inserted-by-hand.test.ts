import { describe, expect, test } from 'vitest';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, newContract, only } from './fixtures/jobs.ts';

const { prisma, row, connect } = await openDatabase();

const count = (type: string) => prisma.jobQueue.count({ where: { type } });
const now = async () => only(await prisma.$queryRaw<{ now: Date }[]>`SELECT now() AS "now"`).now.getTime();

describe('rows inserted by hand', () => {
  test('with prisma.jobQueue.create are proper jobs', async () => {
    const { type } = newContract();
    const { id } = await prisma.jobQueue.create({ data: { type } });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(await row(id)).toMatchObject({
      type,
      payload: {},
      state: 'pending',
      priority: 2,
      maxAttempts: 25,
    });
  });

  test('with INSERT (type, payload) are proper jobs, and run like any other', async () => {
    const contract = newContract();
    const psql = await connect();
    await psql.query(`INSERT INTO job_queue (type, payload) VALUES ('${contract.type}', '{"n": 1}')`);
    expect(only(await claimOf(prisma, contract))).toMatchObject({
      payload: { n: 1 },
      attempts: 1,
      maxAttempts: 25,
    });
  });

  test('have the limits of a contract that names none', async () => {
    const { type, maxAttempts, maxCrashes } = newContract();
    const psql = await connect();
    const { rows } = await psql.query<{ id: string }>(
      `INSERT INTO job_queue (type) VALUES ('${type}') RETURNING id`,
    );
    expect(await row(only(rows).id)).toMatchObject({ maxAttempts, maxCrashes });
  });

  test('have ids of version 7 that grow with time', async () => {
    const psql = await connect();
    const before = await now();
    const { rows } = await psql.query<{ id: string }>(
      'SELECT job_queue_uuid_v7() AS id FROM generate_series(1, 2000)',
    );
    const after = await now();
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2_000);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
      expect(ms).toBeGreaterThanOrEqual(before - 1);
      expect(ms).toBeLessThanOrEqual(after + 1);
    }
    expect(ids.map((id) => id.slice(0, 13))).toEqual(ids.map((id) => id.slice(0, 13)).sort());
  });

  test('in a session with another search_path are proper jobs', async () => {
    const { type } = newContract();
    const restore = await connect();
    await restore.query("SELECT set_config('search_path', '', false)");
    await restore.query(`INSERT INTO public.job_queue (type) VALUES ('${type}')`);
    expect(await count(type)).toBe(1);
  });

  test.each(["'infinity'", "'-infinity'"])(
    'are not due at %s, which no claim could tell the age of',
    async (runAt) => {
      const psql = await connect();
      const inserting = psql.query(
        `INSERT INTO job_queue (type, "runAt") VALUES ('test.infinite', ${runAt})`,
      );
      await expect(inserting).rejects.toThrow('job_queue_run_at_finite');
    },
  );
});
