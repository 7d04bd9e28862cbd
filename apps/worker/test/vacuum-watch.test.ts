/** What holds back vacuum is named: once it has done so for minutes, seldom after that, and with what to do about it. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { waitFor } from '@fencepost/testing';
import { pino } from 'pino';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DatabaseWatch } from '../src/database-watch.ts';
import { createMetrics } from '../src/metrics.ts';
import { VacuumWatch } from '../src/vacuum-watch.ts';
import { createJobTable, type JobTable } from './fixtures/job-table.ts';
import { startWorker, type LogLine } from './fixtures/start-worker.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const MINUTE = 60_000;
const HELD = 'vacuum is held back: entries of jobs that have passed stay in the indexes';

let table: JobTable;
let prisma: PrismaClient;
beforeAll(async () => {
  table = await createJobTable();
  prisma = createPrisma(table.url, { poolSize: 1 });
});
afterAll(async () => {
  await prisma.$disconnect();
  await table.close();
});

function createWatch(client = prisma) {
  const log: LogLine[] = [];
  const logger = pino({}, { write: (line) => log.push(JSON.parse(line) as LogLine) });
  const clock = createTestClock();
  const metrics = createMetrics();
  const database = new DatabaseWatch({ clock, logger, metrics });
  const watch = new VacuumWatch({ client, clock, logger, database, metrics });
  return {
    log,
    /** Looks again after so many minutes. */
    async after(minutes: number): Promise<void> {
      clock.jump(minutes * MINUTE);
      await watch.look();
    },
    heldSeconds: async () => (await metrics.vacuumHeldBack.get()).values[0]?.value,
  };
}

async function holdSnapshot(): Promise<{ session: pg.Client; pid: number }> {
  const session = await table.session();
  await session.query(`SET application_name = 'some report'`);
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return { session, pid: rows[0]!.pid };
}

test('a session that holds a snapshot for minutes is named, with what ends it', async () => {
  const { session, pid } = await holdSnapshot();
  const watch = createWatch();
  await watch.after(0);
  await watch.after(4.9);
  expect(watch.log).toEqual([]);
  await watch.after(0.2);
  expect(watch.log).toHaveLength(1);
  expect(watch.log[0]).toMatchObject({
    level: 40,
    msg: HELD,
    kind: 'session',
    name: 'some report',
    pid,
    user: decodeURIComponent(new URL(table.url).username),
    state: 'idle in transaction',
    remedy: `commit it, or end it: SELECT pg_terminate_backend(${pid})`,
  });
  expect(watch.log[0]?.['heldForMs']).toBeGreaterThan(5 * MINUTE);
  expect(await watch.heldSeconds()).toBeGreaterThan(300);

  // Twice as long is worth another line, and its end is.
  await watch.after(4.5);
  expect(watch.log).toHaveLength(1);
  await watch.after(1);
  expect(watch.log).toHaveLength(2);
  await session.query('ROLLBACK');
  await watch.after(1);
  expect(watch.log.slice(2)).toMatchObject([{ level: 30, msg: 'vacuum is held back no longer' }]);
  expect(await watch.heldSeconds()).toBeLessThan(60);
});

test('one after the other is no long one', async () => {
  const watch = createWatch();
  for (let n = 0; n < 3; n++) {
    const { session } = await holdSnapshot();
    await watch.after(0);
    await watch.after(3);
    await session.query('ROLLBACK');
  }
  expect(watch.log).toEqual([]);
});

test('a session that has written holds as much as one that has only read', async () => {
  const session = await table.session();
  await session.query('BEGIN');
  await session.query('CREATE TABLE test_written ()');
  const watch = createWatch();
  await watch.after(0);
  await watch.after(6);
  expect(watch.log).toMatchObject([{ msg: HELD, kind: 'session', state: 'idle in transaction' }]);
  await session.query('ROLLBACK');
});

test('a role that may not see the sessions of others names them all the same, as long as it has seen them', async () => {
  const role = `test_${process.pid}_${Date.now()}`;
  await table.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  const url = new URL(table.url);
  Object.assign(url, { username: role, password: 'secret' });
  const restricted = createPrisma(url.href, { poolSize: 1 });
  const { session, pid } = await holdSnapshot();
  onTestFinished(async () => {
    await session.query('ROLLBACK');
    await restricted.$disconnect();
    await table.query(`DROP ROLE ${role}`);
  });
  const watch = createWatch(restricted);
  await watch.after(0);
  await watch.after(4.9);
  expect(watch.log).toEqual([]);
  await watch.after(0.2);
  expect(watch.log).toMatchObject([{ msg: HELD, kind: 'session', name: 'some report', pid, state: null }]);
});

test('a session of another database is none of our business', async () => {
  const elsewhere = new URL(table.url);
  elsewhere.pathname = '/postgres';
  const other = createPrisma(elsewhere.href, { poolSize: 1 });
  onTestFinished(() => other.$disconnect());
  const { session } = await holdSnapshot();
  const watch = createWatch(other);
  await watch.after(0);
  await watch.after(60);
  expect(watch.log.filter(({ name }) => name === 'some report')).toEqual([]);
  await session.query('ROLLBACK');
});

test('every worker looks', async () => {
  const { session } = await holdSnapshot();
  const worker = startWorker({ url: table.url, handlers: [] });
  await waitFor(async () => (await worker.metric('fencepost_vacuum_held_back_seconds')) > 0);
  await session.query('ROLLBACK');
});
