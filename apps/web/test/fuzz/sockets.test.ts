/** Bytes on a real socket that are no request, or half of one: an answer or a closed connection, and the server lives. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { waitFor } from '@fencepost/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../src/server.ts';
import { startFuzzedApp, TOKEN, type FuzzedApp } from './app.ts';

const RUNS = 50;

let fuzzed: FuzzedApp;
let server: RunningServer;
beforeAll(async () => {
  fuzzed = await startFuzzedApp();
  server = await startServer(fuzzed.app, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  server.hurry();
  await server.stop();
});

/** What comes back until the connection is closed: by the server, or by a client that has no more to say. */
async function answerTo(bytes: string | Uint8Array, last: 'server' | 'client' = 'server'): Promise<string> {
  const socket = connect(server.address.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  if (last === 'client') socket.end(bytes);
  else socket.write(bytes);
  await closed;
  return answer;
}

/** Nothing, or whole answers, of which every refusal is a problem. */
function expectAnswers(answers: string): number[] {
  const statuses: number[] = [];
  for (const answer of answers.split(/(?=HTTP\/1\.1 \d{3} )/)) {
    if (answer === '') continue;
    const [head = '', text = ''] = answer.split('\r\n\r\n', 2);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const type = /^content-type: *(.*)$/im.exec(head)?.[1] ?? '';
    const isChunked = /^transfer-encoding: *chunked/im.test(head);
    fuzzed.check({ status, type, text: isChunked ? '' : text });
    statuses.push(status);
  }
  return statuses;
}

const AUTHORIZED = `authorization: Bearer ${TOKEN}\r\n`;
const CLOSE = 'connection: close\r\n\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';

test.each<[string, string, number[]]>([
  ['words', 'hello\r\n\r\n', [400]],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['no host', `GET /healthz HTTP/1.1\r\n${CLOSE}`, [400]],
  ['a host that is none', `GET /api/jobs HTTP/1.1\r\nhost: [::\r\n${AUTHORIZED}${CLOSE}`, [400]],
  ['a host with a path', `GET /healthz HTTP/1.1\r\nhost: a/b?c\r\n${CLOSE}`, [400]],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\nhost: a\r\n${CLOSE}`, [400]],
  ['a URL that is none', `GET http://[/ HTTP/1.1\r\nhost: a\r\n${CLOSE}`, [400]],
  ['a backslash', `GET /..\\healthz HTTP/1.1\r\nhost: a\r\n${CLOSE}`, [400]],
  ['a URL of another server', `GET http://elsewhere.example/healthz HTTP/1.1\r\nhost: a\r\n${CLOSE}`, [200]],
  ['CONNECT', `CONNECT a:1 HTTP/1.1\r\nhost: a\r\n${CLOSE}`, []],
  ['TRACE', `TRACE /api/jobs HTTP/1.1\r\nhost: a\r\n${AUTHORIZED}${CLOSE}`, [405]],
  [
    'an upgrade',
    `GET /healthz HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade, close\r\n\r\n`,
    [200],
  ],
  ['an expectation', `POST /api/events HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n${CLOSE}`, [401]],
  ['headers of 20 KB', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, [431]],
  ['a path of 20 KB', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, [431]],
  [
    'two lengths',
    `POST /api/events HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
    [400],
  ],
  [
    'a length and chunks',
    `POST /api/events HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ['a negative length', `POST /api/events HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n`, [400]],
  ['a header that is split', `GET /healthz HTTP/1.1\r\nhost: a\r\nx: a\rset-cookie: b\r\n\r\n`, [400]],
  [
    'a body in chunks',
    `POST /api/events HTTP/1.1\r\nhost: a\r\n${AUTHORIZED}${JSON_TYPE}transfer-encoding: chunked\r\n${CLOSE}4\r\n{"ty\r\n5\r\npe":1\r\n1\r\n}\r\n0\r\n\r\n`,
    [422],
  ],
])('%s', async (_, bytes, statuses) => {
  expect(expectAnswers(await answerTo(Buffer.from(bytes, 'latin1')))).toEqual(statuses);
});

test('a request, and nonsense behind it', async () => {
  const answers = expectAnswers(await answerTo('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n'));
  expect([[200, 400], [400]]).toContainEqual(answers);
});

test('bodies that end before they are whole cost no row and no error', async () => {
  const head = `POST /api/events HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n${AUTHORIZED}${JSON_TYPE}`;
  const before = await fuzzed.rows();
  const bytes = [
    `${head}content-length: 30\r\n\r\n{"type":`,
    `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"ty`,
    `${head}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n`,
    `${head}transfer-encoding: chunked\r\n\r\n4\r\n{}\r\n`,
  ];
  const known = fuzzed.log.length;
  for (const half of bytes) {
    const socket = connect(server.address.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(half);
    // Told to go on: the connection is not cut before the request has begun.
    await once(socket, 'data');
    socket.destroy();
  }
  await waitFor(() => fuzzed.log.length >= known + bytes.length);
  expect(fuzzed.log.slice(known).map((line) => (JSON.parse(line) as { status: number }).status)).toEqual(
    bytes.map(() => 400),
  );
  fuzzed.checkLog();
  expect(await fuzzed.rows()).toEqual(before);
});

test('any bytes, and any damage to a request', { timeout: 60_000 }, async () => {
  const request = Buffer.from(
    `POST /api/events HTTP/1.1\r\nhost: a\r\n${AUTHORIZED}${JSON_TYPE}content-length: 2\r\n${CLOSE}{}`,
  );
  const damaged = fc
    .tuple(fc.nat({ max: request.length - 1 }), fc.uint8Array({ maxLength: 4 }))
    .map(([at, instead]) =>
      Buffer.concat([request.subarray(0, at), instead, request.subarray(at + instead.length)]),
    );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 300 }), damaged), async (bytes) => {
      expectAnswers(await answerTo(bytes, 'client'));
    }),
    { numRuns: RUNS },
  );
  fuzzed.checkLog();
});

test('clients that say nothing more hold up nobody, however many', async () => {
  const slow = Array.from({ length: 200 }, () => {
    const socket = connect(server.address.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /api/events HTTP/1.1\r\nhost: a\r\ncontent-le');
    return socket;
  });
  const answer = await answerTo(`GET /readyz HTTP/1.1\r\nhost: a\r\n${CLOSE}`);
  expect(expectAnswers(answer)).toEqual([200]);
  for (const socket of slow) socket.destroy();
});
