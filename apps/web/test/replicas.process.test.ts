/** Any replica can read, cancel and retry any job, whichever took it in and whoever runs it. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestDatabase, repositoryRoot, spawnNode, waitFor } from '@fencepost/testing';
import { expect, onTestFinished, test } from 'vitest';

const STARTED = { timeout: 60_000 };

test('a job that one web process took in is read, cancelled while it runs, and retried through the other', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const receiver = await startSilentReceiver();
  const settings = {
    DATABASE_URL: databaseUrl,
    ALLOW_PRIVATE_WEBHOOKS: '1',
    NODE_ENV: undefined,
    API_TOKEN: undefined,
  };
  const start = async (app: 'web' | 'worker') => {
    const env = { ...settings, PORT: '0', HEALTH_PORT: '0' };
    const started = spawnNode(join(repositoryRoot, `apps/${app}/src/main.ts`), { env });
    const listening = app === 'web' ? 'listening' : 'status server listening';
    const { port } = await started.waitForLine((line) => line['msg'] === listening, STARTED);
    return apiOf(Number(port));
  };
  const one = await start('web');
  const other = await start('web');
  await start('worker');

  await one('POST', '/api/endpoints', { url: receiver.url, secret: 'x'.repeat(32), eventTypes: ['ping'] });
  const event = await one('POST', '/api/events', { type: 'ping', payload: {} });
  expect(event.status).toBe(202);
  const job = `/api/jobs/${(event.body['jobIds'] as string[])[0]}`;
  await waitFor(() => receiver.open() === 1, { timeout: 20_000 });
  expect((await other('GET', job)).body).toMatchObject({ state: 'running', attempts: 1, claims: 1 });

  expect((await other('POST', `${job}/cancel`)).status).toBe(202);
  // Long before a third of its lease: the worker is woken, and aborts the request.
  await waitFor(async () => (await one('GET', job)).body['state'] === 'cancelled', { timeout: 8_000 });
  expect(receiver.open()).toBe(0);

  receiver.answerFromNowOn();
  expect((await other('POST', `${job}/retry`)).status).toBe(200);
  await waitFor(async () => (await one('GET', job)).body['state'] === 'completed', { timeout: 20_000 });
  expect((await other('GET', job)).body).toMatchObject({
    attempts: 1,
    claims: 2,
    errors: [{ kind: 'cancelled' }],
  });
});

function apiOf(port: number) {
  return async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

/** Takes requests and says nothing, until it is told to. */
async function startSilentReceiver() {
  const waiting = new Set<ServerResponse>();
  let silent = true;
  const server = createServer((request, response) => {
    request.resume();
    if (!silent) return void response.writeHead(204).end();
    waiting.add(response);
    response.on('close', () => waiting.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    open: () => waiting.size,
    answerFromNowOn: () => {
      silent = false;
    },
  };
}
