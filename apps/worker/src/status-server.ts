/** `/healthz`, `/readyz` and `/metrics`, for Fly's checks and Prometheus. Tells nothing that needs a password. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '@fencepost/service';
import type { HealthReport } from './health.ts';
import type { Metrics } from './metrics.ts';

export interface StatusServer {
  readonly port: number;
  close(): Promise<void>;
}

const UNUSABLE: Record<string, string> = { EADDRINUSE: 'in use', EACCES: 'forbidden to this user' };

/**
 * @param port 0 for a free one.
 * @throws ConfigError if the port cannot be had.
 */
export async function startStatusServer(
  port: number,
  metrics: Metrics,
  health: () => HealthReport,
): Promise<StatusServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    void answer(request.url ?? '/', metrics, health).then(({ status, type, body }) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', (error) => {
      const why = UNUSABLE[(error as NodeJS.ErrnoException).code ?? ''];
      reject(why ? new ConfigError([`HEALTH_PORT: expected a free port, found ${port} ${why}`]) : error);
    });
    server.listen(port, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function answer(url: string, metrics: Metrics, health: () => HealthReport) {
  const report = health();
  // Not parsed as a URL: what comes over the wire need not be one.
  switch (url.split('?', 1)[0]) {
    case '/healthz':
      return json(report.healthy ? 200 : 503, report);
    case '/readyz': {
      const ready = !report.draining && report.databaseFailingMs === 0;
      return json(ready ? 200 : 503, {
        ready,
        draining: report.draining,
        databaseFailingMs: report.databaseFailingMs,
      });
    }
    case '/metrics':
      return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() };
    default:
      return json(404, { paths: ['/healthz', '/readyz', '/metrics'] });
  }
}

function json(status: number, body: unknown) {
  return { status, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
