/** Whoever finds the status port: scanners, slow clients, clients without end. It answers, or closes, and goes on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HealthReport } from '../../src/health.ts';
import { createMetrics } from '../../src/metrics.ts';
import { startStatusServer, type StatusServer } from '../../src/status-server.ts';

const RUNS = 50;
/** As a row inserted by hand may have it: a label of the metrics, and text of the report. */
const ODD_TYPE = 'a"b\\c\nd{}=#\u2028é💥';

const report: HealthReport = {
  healthy: true,
  problems: [],
  ...{ running: 1, slots: 10, listening: true, draining: false },
  ...{ loopIdleMs: 5, databaseFailingMs: 0, databaseFault: null, sinceSweepMs: 100 },
  unhandledTypes: [ODD_TYPE],
};
const metrics = createMetrics();
let server: StatusServer;
beforeAll(async () => {
  metrics.backlog.set({ type: ODD_TYPE, when: 'due' }, 7);
  server = await startStatusServer(0, metrics, () => report);
});
afterAll(() => server.close());

async function answerTo(bytes: string | Uint8Array, last: 'server' | 'client' = 'server'): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  if (last === 'client') socket.end(bytes);
  else socket.write(bytes);
  await closed;
  return answer;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
const CLOSE = 'host: a\r\nconnection: close\r\n\r\n';
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

test.each(['/healthz', '/readyz', '/metrics', '/', '/nothing'])(
  '%s is read, and nothing else',
  async (path) => {
    const allowed = path.length > 1 && path !== '/nothing' ? 200 : 404;
    for (const method of ['GET', 'HEAD']) {
      expect(statusOf(await answerTo(`${method} ${path} HTTP/1.1\r\n${CLOSE}`))).toBe(allowed);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PURGE']) {
      const answer = await answerTo(`${method} ${path} HTTP/1.1\r\ncontent-length: 3\r\n${CLOSE}abc`);
      expect([statusOf(answer), /^allow: (.*)$/im.exec(answer)?.[1]]).toEqual([405, 'GET, HEAD']);
    }
  },
);

test('a type of any text is one label of one line', async () => {
  const body = bodyOf(await answerTo(`GET /metrics HTTP/1.0\r\n\r\n`));
  const lines = body.split('\n').filter((line) => line.startsWith('fencepost_backlog{'));
  expect(lines).toEqual(['fencepost_backlog{type="a\\"b\\\\c\\nd{}=#\u2028é💥",when="due"} 7']);
  const health = JSON.parse(bodyOf(await answerTo(`GET /healthz HTTP/1.0\r\n\r\n`))) as HealthReport;
  expect(health.unhandledTypes).toEqual([ODD_TYPE]);
});

test('any bytes, and any damage to a request', { timeout: 60_000 }, async () => {
  const request = Buffer.from(`GET /healthz?a=b HTTP/1.1\r\naccept: */*\r\n${CLOSE}`);
  const damaged = fc
    .tuple(fc.nat({ max: request.length - 1 }), fc.uint8Array({ maxLength: 4 }))
    .map(([at, bytes]) =>
      Buffer.concat([request.subarray(0, at), bytes, request.subarray(at + bytes.length)]),
    );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 300 }), damaged), async (bytes) => {
      const answer = await answerTo(bytes, 'client');
      expect(answer === '' || [200, 400, 404, 405, 431, 503].includes(statusOf(answer))).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

test('clients that say nothing more, and clients by the hundred, hold up no check', async () => {
  const sockets = Array.from({ length: 200 }, (_, n) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(n % 2 ? 'GET /metr' : `GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(5));
    return socket;
  });
  expect(statusOf(await answerTo(`GET /healthz HTTP/1.1\r\n${CLOSE}`))).toBe(200);
  for (const socket of sockets) socket.destroy();
});
