import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { createTestDatabase, repositoryRoot, spawnNode } from '@fencepost/testing';
import { describe, expect, test } from 'vitest';

const main = join(repositoryRoot, 'apps/web/src/main.ts');
const unset = { NODE_ENV: undefined, API_TOKEN: undefined, HOST: undefined, LOG_LEVEL: undefined };

async function start(env: Record<string, string> = {}) {
  const { url } = await createTestDatabase();
  const web = spawnNode(main, { env: { ...unset, DATABASE_URL: url, PORT: '0', ...env } });
  const { port, address } = await web.waitForLine((line) => line['msg'] === 'listening', { timeout: 60_000 });
  return { web, port: Number(port), address, url: `http://127.0.0.1:${String(port)}` };
}

describe('the web process', () => {
  test('serves, ready', async () => {
    const { web, url, address } = await start();
    expect(address).toBe('127.0.0.1');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const made = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'x', payload: {} }),
    });
    expect(made.status).toBe(202);
    expect(await web.waitForLine((line) => line['path'] === '/api/events')).toMatchObject({
      name: 'web',
      msg: 'request',
      method: 'POST',
      status: 202,
    });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'answers what it was asked before it ends at %s',
    async (signal) => {
      const { web, port } = await start();
      const slow = await halfSent(port);
      // Kept alive after its answer, and idle.
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);

      web.signal(signal);
      await web.waitForLine((line) => line['msg'] === 'signal received');
      slow.end('}}');
      const [answer] = (await once(slow, 'response')) as [IncomingMessage];
      const answered = performance.now();
      answer.resume();
      expect(answer.statusCode).toBe(202);
      expect(await web.exited).toEqual({ code: 0, signal: null });
      // Without waiting for the end of a connection that its client keeps alive.
      expect(performance.now() - answered).toBeLessThan(4_000);
      expect(web.lines.at(-1)).toMatchObject({ msg: 'stopped' });
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    },
  );

  test('breaks off what is left at a second signal', async () => {
    const { web, port } = await start();
    const slow = await halfSent(port);
    const broken = once(slow, 'error');
    await fetch(`http://127.0.0.1:${port}/healthz`);
    web.signal('SIGTERM');
    await web.waitForLine((line) => line['msg'] === 'signal received');
    web.signal('SIGTERM');
    expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(await web.exited).toEqual({ code: 0, signal: null });
  });

  test('with wrong settings says which, one a line, without a stack, and exits 1', async () => {
    const web = spawnNode(main, {
      env: { ...unset, NODE_ENV: 'production', DATABASE_URL: 'postgres://ada:hunter2@db', PORT: 'http' },
    });
    expect(await web.exited).toEqual({ code: 1, signal: null });
    const said = web.lines.map((line) => String(line['text']));
    expect(said.map((line) => line.replace(/:.*/, '')).sort((a, b) => a.localeCompare(b))).toEqual([
      'API_TOKEN',
      'DATABASE_URL',
      'PORT',
    ]);
    expect(said.join()).not.toContain('hunter2');
  });

  test('with an address that is taken says so in one line and exits 1', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { url } = await createTestDatabase();
    const web = spawnNode(main, { env: { ...unset, DATABASE_URL: url, PORT: String(port) } });
    expect(await web.exited).toEqual({ code: 1, signal: null });
    expect(web.lines.map((line) => line['text'])).toEqual([
      `HOST and PORT: expected an address that is free, found 127.0.0.1:${port} (EADDRINUSE)`,
    ]);
    server.close();
  });
});

/** A request of which the last two bytes are missing. */
async function halfSent(port: number): Promise<ClientRequest> {
  const agent = new Agent({ keepAlive: true });
  const slow = request({ host: '127.0.0.1', port, path: '/api/events', method: 'POST', agent });
  slow.setHeader('content-type', 'application/json');
  slow.write('{"type": "slow", "payload": {"a": 1');
  const [socket] = (await once(slow, 'socket')) as [Socket];
  await once(socket, 'connect');
  return slow;
}
