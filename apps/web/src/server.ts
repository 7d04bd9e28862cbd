/** The HTTP server around the app, and its end: no new connections, what is being answered is answered. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ConfigError } from '@fencepost/service';
import type { Hono } from 'hono';
import { answerMalformed, withoutUrl } from './malformed.ts';

/** A whole request has to be there by then. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A request without a host is answered by ourselves. */
const SERVER_OPTIONS = { requestTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false };
/** How long a stop waits for answers. Below any orchestrator's patience, above what an answer takes. */
const STOP_TIMEOUT_MS = 10_000;

export interface RunningServer {
  readonly address: AddressInfo;
  /** Resolves when no connection is left. */
  stop: () => Promise<void>;
  /** Breaks off what a stop is still waiting for. */
  hurry: () => void;
}

/** @throws ConfigError if the address is not to be had */
export async function startServer(
  app: Pick<Hono, 'fetch'>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  const answer = getRequestListener(app.fetch, { errorHandler: withoutUrl });
  const server = createServer(SERVER_OPTIONS, (...exchange) => void answer(...exchange));
  server.on('clientError', answerMalformed);
  // Nobody has to fulfil an expectation that is unknown.
  server.on('checkExpectation', (...exchange) => void answer(...exchange));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `HOST and PORT: expected an address that is free, found ${host}:${port} (${code})`,
    ]);
  }
  const hurry = () => server.closeAllConnections();

  return {
    address: server.address() as AddressInfo,
    hurry,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A connection that is kept alive counts as open until its client lets go of it.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const late = setTimeout(hurry, STOP_TIMEOUT_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}
