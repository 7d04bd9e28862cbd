/** A receiver of webhooks: a real HTTP server that keeps what it was sent and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** TCP connections that were made. */
  connections(): number;
  respond: (response: ServerResponse) => void | Promise<void>;
}

export const answer = (status: number) => (response: ServerResponse) => void response.writeHead(status).end();

/** On all addresses of this machine. */
export async function startReceiver(): Promise<Receiver> {
  let connections = 0;
  const receiver: { respond: Receiver['respond']; received: Received[] } = {
    respond: answer(200),
    received: [],
  };
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    void text(request).then((body) => {
      receiver.received.push({ method, url, headers, body });
      return receiver.respond(response);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0);
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    port,
    url: `http://127.0.0.1:${port}/hooks?of=ada`,
    connections: () => connections,
  });
}
