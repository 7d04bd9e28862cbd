import { beforeAll, describe, expect, test } from 'vitest';
import { appOn, SECRET, startApp, type TestApp } from './harness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

const good = {
  url: 'https://hooks.example/in?of=ada',
  secret: SECRET,
  eventTypes: ['user.created', 'user.deleted'],
};

describe('registering an endpoint', () => {
  test('keeps it, and never tells its secret again', async () => {
    const made = await app.post('/api/endpoints', {
      ...good,
      eventTypes: [...good.eventTypes, 'user.created'],
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      url: good.url,
      eventTypes: ['user.created', 'user.deleted'],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const list = await app.get('/api/endpoints');
    expect(list.body.endpoints).toContainEqual(made.body);
    expect(made.text + list.text).not.toContain(SECRET);
    expect(await app.prisma.endpoint.findUnique({ where: { id } })).toMatchObject({ secret: SECRET });
  });

  test.each([
    ['/url', { url: 'not a URL' }, 'Expected a URL'],
    ['/url', { url: 'ftp://hooks.example/' }, 'Expected the protocol http: or https:, found ftp:'],
    ['/url', { url: 'javascript:alert(1)' }, 'found javascript:'],
    ['/url', { url: 'https://ada:hunter2@hooks.example/' }, 'without user name and password'],
    ['/url', { url: `https://hooks.example/${'x'.repeat(2_048)}` }, '2048'],
    ['/url', { url: undefined }, 'expected string, received undefined'],
    ['/secret', { secret: 'too short' }, 'Expected 16 to 128 characters'],
    ['/secret', { secret: 'whsec_!!!!' }, 'base64'],
    ['/secret', { secret: `long enough, but \0` }, 'NUL'],
    ['/eventTypes', { eventTypes: [] }, '>=1'],
    ['/eventTypes', { eventTypes: 'user.created' }, 'expected array, received string'],
    ['/eventTypes/1', { eventTypes: ['user.created', 'user created'] }, 'letters, digits'],
    ['', { eventType: 'user.created' }, 'eventType'],
  ])('refuses at %s: %j', async (pointer, change, detail) => {
    const refused = await app.post('/api/endpoints', { ...good, ...change });
    expect(refused.status).toBe(422);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.body).toMatchObject({
      type: 'about:blank',
      title: 'Unprocessable Entity',
      status: 422,
      code: 'INVALID_REQUEST',
    });
    expect(refused.body.errors).toContainEqual({ pointer, detail: expect.stringContaining(detail) });
    expect(refused.text).not.toContain('hunter2');
  });

  test('tells the first twenty faults of a body, and of each the beginning', async () => {
    const eventTypes = Array.from({ length: 100 }, () => 'no type');
    expect((await app.post('/api/endpoints', { ...good, eventTypes })).body.errors).toHaveLength(20);
    const unknown = await app.post('/api/endpoints', { ...good, ['x'.repeat(10_000)]: 1 });
    expect(unknown.body.errors[0].detail).toHaveLength(500);
  });

  const inside = [
    'http://127.0.0.1:8080/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://[::ffff:10.1.2.3]/',
    'http://169.254.169.254/latest/meta-data',
    'http://[fdaa::3]/',
    'http://0.0.0.0/',
    'http://localhost:3000/',
    'http://app.localhost./',
    'http://[64:ff9b::7f00:1]/',
    'http://100.64.0.1/',
  ];

  test.each(inside)('refuses %s, which is not public', async (url) => {
    const refused = await app.post('/api/endpoints', { ...good, url });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([
      { pointer: '/url', detail: `Expected a public address, found ${new URL(url).hostname}` },
    ]);
  });

  test('takes those where private receivers are allowed', async () => {
    const allowing = appOn(app.databaseUrl, { allowPrivateWebhooks: true });
    for (const url of inside)
      expect((await allowing.post('/api/endpoints', { ...good, url })).status).toBe(201);
  });
});

test('the list comes in pages, the youngest first', async () => {
  const own = await startApp();
  const made: string[] = [];
  for (let count = 0; count < 5; count++) made.unshift((await own.post('/api/endpoints', good)).body.id);
  const seen: string[] = [];
  let query = '?limit=2';
  for (;;) {
    const { body } = await own.get(`/api/endpoints${query}`);
    seen.push(...body.endpoints.map(({ id }: { id: string }) => id));
    if (body.next === null) break;
    query = `?limit=2&before=${body.next}`;
  }
  expect(seen).toEqual(made);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=many', 'limit'],
  ['before=yesterday', 'before'],
])('refuses the query %s', async (query, parameter) => {
  const refused = await app.get(`/api/endpoints?${query}`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY', errors: [{ parameter }] } });
});
