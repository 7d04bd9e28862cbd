/** The web app and the worker as they are deployed, as processes of their own, and an endpoint for their webhooks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { repositoryRoot, spawnNode, waitFor, type LogLine, type NodeProcess } from '@fencepost/testing';
import { onTestFinished } from 'vitest';

const UNSET = {
  ...{ DATABASE_URL: undefined, DIRECT_URL: undefined, CONCURRENCY: undefined, POLL_INTERVAL: undefined },
  ...{ NODE_ENV: undefined, API_TOKEN: undefined, LOG_LEVEL: undefined, DRAIN_TIMEOUT: undefined },
  ...{ PORT: '0', HEALTH_PORT: '0', ALLOW_PRIVATE_WEBHOOKS: '1' },
};

export interface Service extends NodeProcess {
  /** Every line so far with this message. */
  said(message: string): LogLine[];
  ask(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export function spawnWeb(env: Record<string, string>): Promise<Service> {
  return spawnService('apps/web/src/main.ts', env, 'listening');
}

export function spawnMain(env: Record<string, string>): Promise<Service> {
  return spawnService('apps/worker/src/main.ts', env, 'status server listening');
}

async function spawnService(file: string, env: Record<string, string>, listening: string): Promise<Service> {
  const child = spawnNode(join(repositoryRoot, file), { env: { ...UNSET, ...env } });
  const { port } = await child.waitForLine((line) => line['msg'] === listening, { timeout: 60_000 });
  return {
    ...child,
    said: (message) => child.lines.filter((line) => line['msg'] === message),
    async ask(method, path, body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

/** Takes every webhook that is sent to it, until the end of the test. */
export async function startReceiver(): Promise<{ readonly url: string; received(): number }> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    received++;
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received: () => received,
  };
}

/** Subscribes the receiver to events of this type. */
export async function subscribe(web: Service, url: string, type: string): Promise<void> {
  const { status } = await web.ask('POST', '/api/endpoints', {
    ...{ url, eventTypes: [type] },
    secret: `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`,
  });
  if (status !== 201) throw new Error(`the endpoint was answered with ${status}`);
}

/** Sends an event until it is taken, as a client that was told to come back does, and resolves to its job. */
export async function emit(web: Service, type: string, key: string): Promise<string> {
  const taken = await waitFor(
    async () => {
      const headers = { 'idempotency-key': key };
      const answer = await web.ask('POST', '/api/events', { type, payload: {} }, headers);
      if (answer.status === 503) return undefined;
      return answer;
    },
    { timeout: 30_000, interval: 100 },
  );
  const [id] = taken.body['jobIds'] as string[];
  if (id === undefined) throw new Error(`the event was answered with ${taken.status}, and without a job`);
  return id;
}
