import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { connect } from '../src/databases/connection.ts';
import {
  repositoryRoot,
  spawnNode,
  startEmbeddedPostgres,
  waitFor,
  type EmbeddedPostgres,
} from '../src/index.ts';

const owner = join(repositoryRoot, 'packages/testing/test/fixtures/embedded-owner.ts');
const keptName = `test-kept-${process.pid}`;
const servers: EmbeddedPostgres[] = [];

async function start(options?: Parameters<typeof startEmbeddedPostgres>[0]): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  servers.push(server);
  return server;
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

afterAll(async () => {
  const kept = await start({ persistent: keptName });
  const folder = dirname(String(await ask(kept.url, 'SHOW data_directory')));
  await kept.stop();
  await rm(folder, { recursive: true });
});

async function ask(url: string, sql: string): Promise<unknown> {
  const client = await connect(url);
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

describe('startEmbeddedPostgres', () => {
  test('several at once, each with its settings', async () => {
    const [tokyo, plain] = await Promise.all([start({ settings: { timezone: 'Asia/Tokyo' } }), start()]);
    expect(await ask(tokyo.url, 'SHOW timezone')).toBe('Asia/Tokyo');
    expect(await ask(plain.url, 'SHOW max_connections')).toBe('200');
    expect(await ask(plain.url, 'SHOW fsync')).toBe('on');
  });

  test('a wrong setting is named', async () => {
    await expect(startEmbeddedPostgres({ settings: { work_mem: 'plenty' } })).rejects.toThrow(
      /did not start: .*work_mem/,
    );
  });

  test('keeps its port and what was committed over a fast and an immediate restart', async () => {
    const server = await start();
    await ask(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    await server.restart('immediate');
    await ask(server.url, 'INSERT INTO kept VALUES (2)');
    await server.restart('fast');
    expect(await ask(server.url, 'SELECT count(*)::int FROM kept')).toBe(2);
  });

  test('is away between halt and resume', async () => {
    const server = await start();
    await server.halt('immediate');
    await expect(connect(server.url)).rejects.toThrow('ECONNREFUSED');
    await server.resume();
    expect(await ask(server.url, 'SELECT 1')).toBe(1);
  });

  test('a persistent one keeps its data from run to run', async () => {
    const first = await start({ persistent: keptName });
    await ask(first.url, 'CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS n');
    await first.stop();
    const second = await start({ persistent: keptName });
    expect(await ask(second.url, 'SELECT n FROM kept')).toBe(42);
  });

  test('a persistent one has one user at a time', async () => {
    const child = spawnNode(owner, { args: [keptName] });
    await child.waitForLine((line) => 'url' in line);
    await expect(startEmbeddedPostgres({ persistent: keptName })).rejects.toThrow(
      `is in use by process ${child.pid}`,
    );
  });

  test('ends, and takes its folder along, when its owner is killed', async () => {
    const child = spawnNode(owner);
    const { url, folder } = await child.waitForLine((line) => 'url' in line);
    child.signal('SIGKILL');
    await waitFor(() => !existsSync(String(folder)));
    await expect(connect(String(url))).rejects.toThrow('ECONNREFUSED');
  });

  test('what outlived even that is cleared away by the next start', async () => {
    const child = spawnNode(owner);
    const { url, folder, lifeline } = await child.waitForLine((line) => 'url' in line);
    process.kill(Number(lifeline), 'SIGKILL');
    child.signal('SIGKILL');
    await child.exited;
    expect(await ask(String(url), 'SELECT 1')).toBe(1);
    await start();
    expect(existsSync(String(folder))).toBe(false);
    await expect(connect(String(url))).rejects.toThrow('ECONNREFUSED');
  });

  test('an orphan in a persistent folder is stopped, and its data serve on', async () => {
    const child = spawnNode(owner, { args: [keptName] });
    const { lifeline } = await child.waitForLine((line) => 'url' in line);
    process.kill(Number(lifeline), 'SIGKILL');
    child.signal('SIGKILL');
    await child.exited;
    const server = await start({ persistent: keptName });
    expect(await ask(server.url, 'SELECT 1')).toBe(1);
  });
});
