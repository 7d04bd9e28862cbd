/**
 * A database that is there and does not serve: a worker and the web app say what is wrong, go on by themselves when it is
 * over, and neither lose a job nor run one twice for it.
 */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findFaults } from '../fixtures/claim-history.ts';
import { testContracts } from '../fixtures/contracts.ts';
import { spawnWorker, type WorkerProcess } from '../fixtures/spawn-worker.ts';
import { PASSWORD, startFaultyServer, type FaultyServer } from './server-faults.ts';
import { emit, spawnWeb, startReceiver, subscribe, type Service } from './services.ts';

const { effect, finisher } = testContracts();
const SOON = { timeout: 40_000, interval: 50 };
const REFUSED = { status: 503, body: { code: 'DATABASE_UNAVAILABLE' } };

let server: FaultyServer;
let prisma: PrismaClient;
let web: Service;
let worker: WorkerProcess;
beforeAll(async () => {
  server = await startFaultyServer();
  const url = await server.createRole('app');
  prisma = createPrisma(url);
  [web, worker] = await Promise.all([spawnWeb({ DATABASE_URL: url }), spawnWorker({ url })]);
}, 120_000);
beforeEach(() => server.table.query('TRUNCATE job_queue, test_history, test_effect'));
afterAll(async () => {
  await prisma?.$disconnect();
  await server?.stop();
});

interface Fault {
  readonly name: string;
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** A fault with a run under way, and a request that comes meanwhile. */
async function expectToSurvive({ name, begin, end }: Fault): Promise<void> {
  const receiver = await startReceiver();
  await subscribe(web, receiver.url, name);
  const running = await enqueue(prisma, finisher, {});
  await waitFor(() => worker.said('run began').some(({ id }) => id === running.id), SOON);

  await begin();
  try {
    await expectToldAndRefused(name);
  } finally {
    await end();
  }
  await expectRecovery(name, running.id);
}

async function expectToldAndRefused(name: string): Promise<void> {
  const told = await worker.waitForLine(
    ({ msg, fault }) => msg === 'statement failed' && fault === name,
    SOON,
  );
  expect(told).toMatchObject({ level: 40, meaning: expect.stringContaining('the database'), failures: 1 });
  // It returns, and cannot be settled.
  worker.signal('SIGUSR2');
  await worker.waitForLine(({ statement, fault }) => statement === 'settle' && fault === name, SOON);
  // The first may meet a session that was ended under it.
  await waitFor(async () => {
    const headers = { 'idempotency-key': `${name}-refused` };
    const answer = await web.ask('POST', '/api/events', { type: name, payload: {} }, headers);
    expect(answer).toMatchObject(REFUSED);
    return web.said('request turned away').some(({ fault, level }) => fault === name && level === 40);
  }, SOON);
  expect((await web.ask('GET', '/readyz')).status).toBe(name === 'read_only' ? 200 : 503);
}

async function expectRecovery(name: string, running: string): Promise<void> {
  await waitFor(async () => (await server.table.row(running)).state === 'completed', SOON);
  expect(await server.table.row(running)).toMatchObject({ claims: 1, attempts: 1, errors: [] });
  await emit(web, name, `${name}-taken`);
  expect(await server.table.query(WHOLE, [name])).toEqual([
    { events: [`${name}-taken`], deliveries: 1, jobs: 1 },
  ]);
  // Every session of the pools is a good one again.
  for (let count = 0; count < 20; count++) await emit(web, name, `${name}-${count}`);
  const { id } = await enqueue(prisma, effect, {});
  await waitFor(async () => (await server.table.row(id)).state === 'completed', SOON);
  await waitFor(async () => JSON.parse((await worker.get('/healthz')).body).listening === true, SOON);
  const over = worker
    .said('database answers again')
    .filter(({ faults }) => (faults as string[]).includes(name));
  expect(over).toMatchObject([{ level: 30 }]);
  expect((await findFaults(server.table)).filter((fault) => !fault.startsWith(running))).toEqual([]);
}

test('a primary that turns read-only, and back while sessions of that time are open', () =>
  expectToSurvive({
    name: 'read_only',
    async begin() {
      await server.sql('ALTER DATABASE postgres SET default_transaction_read_only = on');
      await server.endSessions('app');
    },
    end: () => server.sql('ALTER DATABASE postgres SET default_transaction_read_only = off'),
  }));

test('a password that stops working, and works again', () =>
  expectToSurvive({
    name: 'login_refused',
    async begin() {
      await server.sql(`ALTER ROLE app PASSWORD 'another'`);
      await server.endSessions('app');
    },
    end: () => server.sql(`ALTER ROLE app PASSWORD '${PASSWORD}'`),
  }));

test('a role without connections, and then a server without', async () => {
  let giveBack = async () => {};
  await expectToSurvive({
    name: 'too_many_connections',
    async begin() {
      await server.sql('ALTER ROLE app CONNECTION LIMIT 0');
      await server.endSessions('app');
    },
    async end() {
      giveBack = await server.takeAllConnections('app');
      await server.sql('ALTER ROLE app CONNECTION LIMIT -1');
      expect(await web.ask('POST', '/api/events', { type: 'x', payload: {} })).toMatchObject(REFUSED);
      await waitFor(() =>
        web
          .said('request turned away')
          .some((line) => /too many clients|connection slots/.test(JSON.stringify(line))),
      );
      await giveBack();
    },
  });
});

test('statements that a timeout of the role cancels', () =>
  expectToSurvive({
    name: 'statement_cancelled',
    async begin() {
      await server.sql(`ALTER ROLE app SET statement_timeout = '300ms'`);
      await server.endSessions('app');
      await server.sql('BEGIN');
      await server.sql('LOCK TABLE job_queue');
    },
    async end() {
      await server.sql('COMMIT');
      await server.sql('ALTER ROLE app RESET statement_timeout');
    },
  }));

test('a standby that takes no connections yet, and is promoted at the same address', async () => {
  let promote = async () => {};
  await expectToSurvive({
    name: 'not_accepting',
    async begin() {
      promote = await server.becomeStandby();
    },
    end: () => promote(),
  });
});

test('all of it told without a secret, and by the same processes', () => {
  expect(worker.said('worker started')).toHaveLength(1);
  for (const { lines } of [worker, web]) {
    expect(JSON.stringify(lines)).not.toContain(PASSWORD);
    expect(lines.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  }
});

/** What there is of the type's events: all or nothing of each. */
const WHOLE = `
  SELECT
    array_agg(event."idempotencyKey") AS events,
    count(delivery."jobId")::int AS deliveries,
    count(job.id)::int AS jobs
  FROM event
  LEFT JOIN delivery ON delivery."eventId" = event.id
  LEFT JOIN job_queue AS job ON job.id = delivery."jobId"
  WHERE event.type = $1`;
