/** Any request to any route: an answer below 500, a problem where it is refused, no secret, and then no row either. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { BROUGHT, startFuzzedApp, TOKEN, type FuzzedApp } from './app.ts';

const RUNS = 150;

let fuzzed: FuzzedApp;
beforeAll(async () => {
  fuzzed = await startFuzzedApp();
});

const id = fc.oneof(
  fc.constantFrom(
    '00000000-0000-7000-8000-000000000000',
    '..',
    '%00',
    '%zz',
    '%ff',
    'x.csv',
    '.csv',
    '%2e%2e%2f',
    "'--",
    '💥',
  ),
  fc.uuid(),
  fc.webPath(),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const path = fc.oneof(
  fc.constantFrom(
    '/',
    '/healthz',
    '/readyz',
    '/api',
    '/api/jobs',
    '/api/events',
    '/api/endpoints',
    '/api/reports',
  ),
  fc
    .tuple(
      fc.constantFrom('jobs', 'events', 'endpoints', 'reports', '__proto__'),
      id,
      fc.constantFrom('', '', '/cancel', '/retry', '.csv'),
    )
    .map(([collection, one, action]) => `/api/${collection}/${one}${action}`),
);
const word = fc.oneof(
  fc.constantFrom('limit', 'before', 'state', 'type', '__proto__', 'constructor', 'toString', 'limit[]', ''),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const value = fc.oneof(
  fc.constantFrom(
    '1',
    '0',
    '-1',
    '201',
    '1e2',
    '0x10',
    'NaN',
    'Infinity',
    'dead',
    'done',
    '\0',
    '٣',
    '1,2',
    '%',
    ' ',
  ),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const query = fc.array(fc.tuple(word, value), { maxLength: 4 }).map((pairs) => {
  const params = new URLSearchParams(
    pairs.map(([name, text]): [string, string] => [name.toWellFormed(), text.toWellFormed()]),
  );
  return pairs.length === 0 ? '' : `?${params.toString()}`;
});
const printable = fc
  .string({ unit: fc.constantFrom(...Array.from('abc ,;=/"\\%éÿ\t~')), maxLength: 20 })
  .map((text) => text.trim());
const headers = fc.record(
  {
    authorization: fc.oneof(
      { weight: 6, arbitrary: fc.constant(`Bearer ${TOKEN}`) },
      fc.constantFrom(
        `Bearer ${TOKEN.slice(1)}`,
        `Basic ${btoa(`x:${TOKEN}`)}`,
        `bearer\t${TOKEN}`,
        'Bearer',
        'Bearer undefined',
        'null',
      ),
      printable,
    ),
    'content-type': fc.oneof(
      { weight: 3, arbitrary: fc.constant('application/json') },
      fc.constantFrom(
        'text/plain',
        'application/json; charset=utf-16',
        'multipart/form-data; boundary=x',
        'application/jsonp',
      ),
      printable,
    ),
    'idempotency-key': fc.oneof(fc.constantFrom('k', 'x'.repeat(300), 'a, a'), printable),
    'content-length': fc.constantFrom('0', '1', '131073', '99999999999999999999', 'x'),
    'x-request-id': fc.oneof(fc.constantFrom('x'.repeat(300), '../../etc', '<script>'), printable),
    'content-encoding': fc.constantFrom('gzip', 'identity'),
    'x-http-method-override': fc.constant('DELETE'),
  },
  { requiredKeys: ['authorization'] },
);
const body = fc.oneof(
  fc.constant(undefined),
  fc.json({ maxDepth: 4 }),
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom(
    `{"url":"https://hooks.example/","secret":"${BROUGHT}","eventTypes":["a"]`,
    `{"url":"ftp://hooks.example/","secret":"${BROUGHT}","eventTypes":["a"]}`,
    `"${BROUGHT}"`,
    BROUGHT,
    `{"secret":${BROUGHT}}`,
    '{"type":"a","payload":{}}',
    '{"type":"a","type":"b","payload":{}}',
    '{"type":"a","payload":{},"__proto__":{}}',
    `{"type":"a","payload":${'['.repeat(60_000)}`,
    `{"type":"a","payload":{"a":${'[{"b":'.repeat(10_000)}1${'}]'.repeat(10_000)}}}`,
    '\ufeff{"type":"bom","payload":{}}',
  ),
);
const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GET', 'POST') },
  fc.constantFrom('HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'BREW', 'get', 'QUERY'),
);

test('any request', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(method, path, query, headers, body, async (verb, at, asked, sent, content) => {
      const before = await fuzzed.rows();
      const hasBody = content !== undefined && !/^(get|head)$/i.test(verb);
      const request = new Request(`http://localhost${at}${asked}`, {
        method: verb,
        headers: latin1(sent),
        ...(hasBody && { body: content as string }),
      });
      const response = await fuzzed.app.fetch(request);
      const text = await response.text();
      fuzzed.check({ status: response.status, type: response.headers.get('content-type') ?? '', text });
      if (response.status >= 400) expect(await fuzzed.rows()).toEqual(before);
      if (new URL(request.url).pathname.startsWith('/api/') && sent.authorization !== `Bearer ${TOKEN}`) {
        expect(response.status === 401 || isToken(sent.authorization)).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
  fuzzed.checkLog();
});

/** `bearer`, and any white space that HTTP allows there. */
function isToken(authorization: string): boolean {
  return new RegExp(`^bearer +${TOKEN}$`, 'i').test(authorization);
}

/** Headers are bytes. */
function latin1(sent: Readonly<Record<string, string | undefined>>): Headers {
  const given = new Headers();
  for (const [name, text] of Object.entries(sent)) if (text !== undefined) given.set(name, text);
  return given;
}
