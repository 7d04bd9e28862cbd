/** Bodies that are nearly right: what is taken reads back as it was given, what is not is named, with no row behind. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { BROUGHT, startFuzzedApp, TOKEN, type FuzzedApp } from './app.ts';

const RUNS = 60;

let fuzzed: FuzzedApp;
beforeAll(async () => {
  fuzzed = await startFuzzedApp();
});

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const response = await fuzzed.app.request(path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
  });
  const answer = {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
  return { status: answer.status, body: fuzzed.check(answer) };
}

async function read(path: string) {
  const response = await fuzzed.app.request(path, { headers: { authorization: `Bearer ${TOKEN}` } });
  return (await response.json()) as Record<string, unknown>;
}

const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'toJSON', '$type', 'set', '', 'a\0', '\udc00'),
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.double(),
      fc.boolean(),
      fc.constantFrom(null, 1e308, 5e-324, -0, 'a\0b', '\ud800', 'x\udfff'),
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4 }),
    fc.record({ $type: fc.constantFrom('', 'Raw', 'Json', 'DateTime', 0, null), value: tie('json') }),
  ),
}));

test('any payload of an event', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, json, { maxKeys: 4 }), async (payload) => {
      const before = await fuzzed.rows();
      const text = JSON.stringify({ type: 'user.created', payload });
      const { status, body } = await post('/api/events', text);
      if (status === 202) {
        const shown = (await read(`/api/events/${body.id}`))['payload'];
        expect(shown).toEqual((JSON.parse(text) as { payload: unknown }).payload);
        const { events = 0, deliveries = 0, jobs = 0, ...others } = before;
        expect(await fuzzed.rows()).toEqual({
          events: events + 1,
          deliveries: deliveries + 1,
          jobs: jobs + 1,
          ...others,
        });
        return;
      }
      expect(status).toBe(422);
      expect(body.errors[0].pointer).toMatch(/^\/payload/);
      expect(text).toMatch(/\\u0000|\\ud[89a-f]|__proto__|constructor|"\$type":""/);
      expect(await fuzzed.rows()).toEqual(before);
    }),
    { numRuns: RUNS },
  );
  fuzzed.checkLog();
});

const ENDPOINT = Buffer.from(
  JSON.stringify({ url: 'https://hooks.example/é', secret: BROUGHT, eventTypes: ['a', 'b'] }),
);

test('any damage to a body', { timeout: 60_000 }, async () => {
  const byte = fc.nat({ max: ENDPOINT.length - 1 });
  await fc.assert(
    fc.asyncProperty(
      byte,
      fc.nat({ max: 255 }),
      fc.constantFrom('flip', 'cut', 'double'),
      async (at, to, how) => {
        const before = await fuzzed.rows();
        const damaged = how === 'cut' ? ENDPOINT.subarray(0, at) : Buffer.from(ENDPOINT);
        if (how === 'flip') damaged[at] = to;
        const bytes = how === 'double' ? Buffer.concat([damaged, damaged]) : damaged;
        const { status } = await post('/api/endpoints', new Uint8Array(bytes));
        expect([201, 400, 422]).toContain(status);
        const { endpoints = 0, ...others } = before;
        expect(await fuzzed.rows()).toEqual({ endpoints: endpoints + (status === 201 ? 1 : 0), ...others });
      },
    ),
    { numRuns: RUNS },
  );
  fuzzed.checkLog();
});

test.each([
  ['latin1', Buffer.from('{"type":"a","payload":{"a":"é"}}', 'latin1')],
  ['UTF-16', Buffer.from('{"type":"a","payload":{}}', 'utf16le')],
  [
    'a surrogate in UTF-8',
    Buffer.from([...Buffer.from('{"type":"a","payload":{"a":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}}')]),
  ],
  ['half a character', Buffer.from('{"type":"a","payload":{"a":"é"}}').subarray(0, 29)],
])('%s is not taken for UTF-8', async (_, bytes) => {
  const before = await fuzzed.rows();
  expect(await post('/api/events', new Uint8Array(bytes))).toMatchObject({
    status: 400,
    body: { code: 'INVALID_JSON' },
  });
  expect(await fuzzed.rows()).toEqual(before);
});

test.each([BROUGHT, `"${BROUGHT}`, `{"secret":${BROUGHT}}`, `{"secret":"${BROUGHT}"x`, `[1,]${BROUGHT}`])(
  'no JSON: %s is not quoted',
  async (body) => {
    expect(await post('/api/endpoints', body)).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
  },
);

test('what is wrong is told in part, however much of it there is', async () => {
  const many = Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`wrong${n}`, n]));
  const { status, body } = await post('/api/endpoints', JSON.stringify(many));
  expect(status).toBe(422);
  expect(body.errors.length).toBeLessThanOrEqual(20);
  const types = Array.from({ length: 100 }, () => 'not a type');
  const wrong = await post(
    '/api/endpoints',
    JSON.stringify({ url: 'https://hooks.example/', secret: BROUGHT, eventTypes: types }),
  );
  expect(wrong).toMatchObject({ status: 422 });
  expect(wrong.body.errors.length).toBeLessThanOrEqual(20);
});
