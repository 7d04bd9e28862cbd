/** The worker as it is deployed: settings from the environment, and an end in order. */
import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createPrisma } from '@fencepost/db';
import { deliveryReport } from '@fencepost/jobs';
import { enqueue } from '@fencepost/queue';
import { createTestDatabase, repositoryRoot, spawnNode, waitFor, type NodeProcess } from '@fencepost/testing';
import { expect, onTestFinished, test } from 'vitest';

const main = join(repositoryRoot, 'apps/worker/src/main.ts');
const UNSET = {
  ...{ DATABASE_URL: undefined, DIRECT_URL: undefined, CONCURRENCY: undefined, POLL_INTERVAL: undefined },
  ...{ KEEP_COMPLETED: undefined, LOG_LEVEL: undefined, NODE_OPTIONS: undefined },
};

function start(env: Record<string, string>): NodeProcess {
  return spawnNode(main, { env: { ...UNSET, HEALTH_PORT: '0', ...env } });
}

const textsOf = (worker: NodeProcess) => worker.lines.map((line) => line['text']);

test('each setting that is wrong or missing gets a line, and no stack', async () => {
  const worker = start({
    DIRECT_URL: 'mysql://ada:hunter2@db.test/app',
    CONCURRENCY: 'many',
    POLL_INTERVAL: '2m',
  });
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(textsOf(worker)).toEqual([
    'DATABASE_URL: expected a Postgres URL such as postgresql://user:password@host:5432/database, found nothing',
    expect.stringMatching(/^DIRECT_URL: expected a Postgres URL .* protocol is "mysql:".*, found "[^"]*"$/),
    'CONCURRENCY: expected a whole number from 1 to 1000, found "many"',
    'POLL_INTERVAL: expected a duration from 50ms to 60s, such as "500ms", "30s", "5m", "7d", found "2m"',
  ]);
  expect(JSON.stringify(worker.lines)).not.toContain('hunter2');
});

test('a port that is taken gets one', async () => {
  const { url } = await createTestDatabase();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const worker = start({ DATABASE_URL: url, HEALTH_PORT: String(port) });
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(textsOf(worker)).toEqual([`HEALTH_PORT: expected a free port, found ${port} in use`]);
});

test('it starts, serves its status, and ends in order', async () => {
  const { url } = await createTestDatabase();
  const worker = start({ DATABASE_URL: url });
  const { port } = await worker.waitForLine((line) => line['msg'] === 'status server listening', {
    timeout: 60_000,
  });
  for (const step of ['worker started', 'listening for wake-ups'])
    await worker.waitForLine((line) => line['msg'] === step);
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${String(port)}${path}`)).status;
  expect(await Promise.all(['/healthz', '/readyz', '/metrics', '/'].map(status))).toEqual([
    200, 200, 200, 404,
  ]);
  worker.signal('SIGINT');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(worker.lines.map((line) => line['msg'])).toEqual(
    expect.arrayContaining(['worker started', 'signal received', 'drain begins', 'drain ended']),
  );
  expect(worker.lines.filter((line) => Number(line['level']) >= 40 || 'text' in line)).toEqual([]);
});

test.each([
  ['0', null],
  ['1', { state: 'completed' }],
])('with KEEP_COMPLETED=%s a job that has completed is left as %j', async (KEEP_COMPLETED, left) => {
  const { url } = await createTestDatabase();
  const prisma = createPrisma(url);
  onTestFinished(() => prisma.$disconnect());
  const reportId = randomUUID();
  const { id } = await enqueue(prisma, deliveryReport, { reportId });
  await prisma.report.create({ data: { id: reportId, jobId: id } });
  const worker = start({ DATABASE_URL: url, KEEP_COMPLETED });
  const isWritten = async () => {
    const { completedAt } = await prisma.report.findUniqueOrThrow({ where: { id: reportId } });
    return completedAt !== null;
  };
  await waitFor(isWritten, { timeout: 60_000 });
  expect(await prisma.jobQueue.findUnique({ where: { id }, select: { state: true } })).toEqual(left);
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});

test('behind a transaction pooler it polls, and says so', async () => {
  const { url } = await createTestDatabase();
  const worker = start({ DATABASE_URL: `${url}?pgbouncer=true` });
  const warned = await worker.waitForLine((line) => String(line['msg']).startsWith('polling alone'), {
    timeout: 60_000,
  });
  expect(warned).toMatchObject({ level: 40 });
  const { port } = await worker.waitForLine((line) => line['msg'] === 'status server listening');
  const health = async () =>
    (await fetch(`http://127.0.0.1:${String(port)}/healthz`)).json() as Promise<object>;
  await waitFor(async () => 'databaseFailingMs' in (await health()));
  expect(await health()).toMatchObject({ healthy: true, listening: false, databaseFailingMs: 0 });
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});

test('a password that is wrong is told of without being shown', async () => {
  const url = new URL((await createTestDatabase()).url);
  url.password = 'hunter2hunter2';
  const worker = start({ DATABASE_URL: url.href, LOG_LEVEL: 'trace' });
  await worker.waitForLine((line) => line['msg'] === 'statement failed', { timeout: 60_000 });
  await worker.waitForLine((line) => line['msg'] === 'wake-ups lost, polling until they are back');
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(JSON.stringify(worker.lines)).toContain('authentication failed');
  expect(JSON.stringify(worker.lines)).not.toContain('hunter2');
});
