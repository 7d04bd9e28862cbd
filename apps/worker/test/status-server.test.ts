import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { ConfigError } from '@fencepost/service';
import { expect, onTestFinished, test } from 'vitest';
import type { HealthReport } from '../src/health.ts';
import { createMetrics } from '../src/metrics.ts';
import { startStatusServer } from '../src/status-server.ts';

const WELL: HealthReport = {
  healthy: true,
  problems: [],
  running: 1,
  slots: 10,
  listening: true,
  draining: false,
  loopIdleMs: 5,
  databaseFailingMs: 0,
  databaseFault: null,
  sinceSweepMs: 100,
  unhandledTypes: ['test.unknown'],
};

async function start(report: Partial<HealthReport> = {}) {
  const metrics = createMetrics();
  const server = await startStatusServer(0, metrics, () => ({ ...WELL, ...report }));
  onTestFinished(() => server.close());
  /** By hand, because fetch makes every path a proper one. */
  const get = (path: string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      request({ host: '127.0.0.1', port: server.port, path }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => resolve({ status: response.statusCode, body }));
      })
        .on('error', reject)
        .end();
    });
  return { get, metrics, port: server.port };
}

test('/healthz tells the report, green or red', async () => {
  const well = await start();
  const { status, body } = await well.get('/healthz?from=fly');
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual(WELL);
  const ill = await start({ healthy: false, problems: ['the loop does not come round'] });
  expect((await ill.get('/healthz')).status).toBe(503);
  expect(JSON.parse((await ill.get('/healthz')).body)).toMatchObject({
    problems: ['the loop does not come round'],
  });
});

test.each([
  { report: {}, status: 200 },
  { report: { draining: true }, status: 503 },
  { report: { databaseFailingMs: 1 }, status: 503 },
])('/readyz is $status with $report', async ({ report, status }) => {
  expect((await (await start(report)).get('/readyz')).status).toBe(status);
});

test('/metrics has every metric of the worker, and those of Node', async () => {
  const { get, metrics } = await start();
  metrics.claimed.inc({ type: 'test.one' });
  const { status, body } = await get('/metrics');
  expect(status).toBe(200);
  const named = body
    .split('\n')
    .flatMap((line) => /^# TYPE (fencepost_\w+) (\w+)$/.exec(line)?.slice(1).join(' ') ?? []);
  expect(named.toSorted()).toEqual([
    'fencepost_backlog gauge',
    'fencepost_claimed_total counter',
    'fencepost_database_errors_total counter',
    'fencepost_deleted_total counter',
    'fencepost_fenced_total counter',
    'fencepost_listening gauge',
    'fencepost_oldest_due_seconds gauge',
    'fencepost_reclaimed_total counter',
    'fencepost_run_seconds histogram',
    'fencepost_running gauge',
    'fencepost_settled_total counter',
    'fencepost_settlements_abandoned_total counter',
    'fencepost_slots gauge',
    'fencepost_vacuum_held_back_seconds gauge',
    'fencepost_wait_seconds histogram',
  ]);
  expect(body).toContain('fencepost_claimed_total{type="test.one"} 1');
  // There before the first one, so that a rate over them sees it.
  for (const op of ['progress', 'complete', 'assert_claim', 'settle', 'renew']) {
    expect(body).toContain(`fencepost_fenced_total{op="${op}"} 0`);
  }
  expect(body).toContain('nodejs_eventloop_lag_seconds');
});

test.each(['/', '/nothing', '//', '///healthz', '/%', '/\\', 'http://[', '*'])(
  '%s is not found',
  async (path) => {
    expect((await (await start()).get(path)).status).toBe(404);
  },
);

test('nothing but reading is allowed', async () => {
  const { port } = await start();
  const refused = await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'DELETE' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('a port that is taken is a setting that is wrong', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const starting = startStatusServer(port, createMetrics(), () => WELL);
  await expect(starting).rejects.toThrow(
    new ConfigError([`HEALTH_PORT: expected a free port, found ${port} in use`]),
  );
});
