/** A worker that cannot recover: unhealthy first, and then an end with 1, so that its platform starts it anew. */
import { fileURLToPath } from 'node:url';
import { waitFor } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFaultyServer, type FaultyServer } from './server-faults.ts';
import { spawnMain, type Service } from './services.ts';

const SOON = { timeout: 40_000 };
const JUMP_CLOCK = fileURLToPath(new URL('./jump-clock.mjs', import.meta.url));

let server: FaultyServer;
beforeAll(async () => {
  server = await startFaultyServer();
}, 120_000);
afterAll(() => server?.stop());

const spawn = (url: string) => spawnMain({ DATABASE_URL: url, NODE_OPTIONS: `--import=${JUMP_CLOCK}` });

test('a password that is wrong from the start, and one that stops working', async () => {
  const url = await server.createRole('app');
  const wrong = new URL(url);
  wrong.password = 'not-the-one';
  const [never, before] = await Promise.all([spawn(wrong.href), spawn(url)]);
  for (const line of ['listening for wake-ups', 'worker started']) {
    await before.waitForLine(({ msg }) => msg === line);
  }
  expect(await before.ask('GET', '/readyz')).toMatchObject({ status: 200 });
  await server.sql(`ALTER ROLE app PASSWORD 'another'`);
  await server.endSessions('app');
  await Promise.all([never, before].map(expectToGiveUp));
});

async function expectToGiveUp(worker: Service): Promise<void> {
  await worker.waitForLine(({ msg, fault }) => msg === 'statement failed' && fault === 'login_refused', SOON);
  await worker.waitForLine(
    ({ msg, fault }) => msg === 'wake-ups lost, polling until they are back' && fault === 'login_refused',
  );
  expect(await worker.ask('GET', '/healthz')).toMatchObject({ status: 200 });
  // The database may be away for a minute.
  worker.signal('SIGUSR2');
  await waitFor(async () => (await worker.ask('GET', '/healthz')).status === 503, { timeout: 30_000 });
  expect((await worker.ask('GET', '/healthz')).body).toMatchObject({
    problems: expect.arrayContaining(['the database does not answer']),
    databaseFault: 'the database refuses the user or the password of the URL',
  });
  const ill = await worker.waitForLine(({ msg }) => msg === 'worker is unhealthy');
  expect(ill).toMatchObject({ level: 50, databaseFault: expect.stringContaining('refuses') as string });
  // And two more that nothing gets better in.
  worker.signal('SIGUSR2');
  await waitFor(
    async () => Number((await worker.ask('GET', '/healthz')).body['databaseFailingMs']) > 125_000,
  );
  worker.signal('SIGUSR2');
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.said('worker stays unhealthy')).toMatchObject([{ level: 60 }]);
  expect(JSON.stringify(worker.lines)).not.toMatch(/not-the-one|hunter2/);
}
