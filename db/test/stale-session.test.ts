/** A session keeps the settings of its start, so that one which they make useless is not to be handed out again. */
import { createTestDatabase } from '@fencepost/testing';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createPrisma, type PrismaClient } from '../src/index.ts';
import { sql } from './support/databases.ts';

let url: string;
let name: string;
let prisma: PrismaClient;
beforeAll(async () => {
  url = (await createTestDatabase()).url;
  name = new URL(url).pathname.slice(1);
});
afterEach(() => prisma.$disconnect());

const insert = () => prisma.$transaction((tx) => tx.jobQueue.create({ data: { type: 'test.stale' } }));
const pid = async () => {
  const [row] = await prisma.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  return row?.pid;
};

it('a session that turned out read-only is replaced, and the next transaction goes through', async () => {
  await sql(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  prisma = createPrisma(url, { poolSize: 1 });
  await expect(insert()).rejects.toThrow('read-only transaction');
  await sql(
    url,
    'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
    `ALTER DATABASE ${name} SET default_transaction_read_only = off`,
  );
  // What failed before has given its session up; what failed meanwhile would have as well.
  await expect(insert()).resolves.toMatchObject({ type: 'test.stale' });
});

it('so is one whose statement was cancelled by a timeout, and no other', async () => {
  prisma = createPrisma(url, { poolSize: 1 });
  const first = await pid();
  await expect(prisma.$transaction((tx) => tx.$queryRaw`SELECT 1 / 0`)).rejects.toThrow('division by zero');
  expect(await pid()).toBe(first);
  const slow = prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL statement_timeout = '50ms'`;
    await tx.$queryRaw`SELECT pg_sleep(5)::text`;
  });
  await expect(slow).rejects.toThrow('statement timeout');
  expect(await pid()).not.toBe(first);
});
