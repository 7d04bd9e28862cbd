import { createPrisma } from '@fencepost/db';
import { freePort } from '@fencepost/testing';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { appOn, startApp, type TestApp } from './harness.ts';

const token = 'a-token-of-more-than-16-characters';
let app: TestApp;
let guarded: TestApp;
beforeAll(async () => {
  app = await startApp();
  guarded = appOn(app.databaseUrl, { apiToken: token });
});

describe('the token', () => {
  const routes = [
    ['GET', '/api/endpoints'],
    ['POST', '/api/endpoints'],
    ['GET', '/api/events'],
    ['POST', '/api/events'],
    ['GET', '/api/events/x'],
    ['GET', '/api/jobs'],
    ['GET', '/api/jobs/x'],
    ['POST', '/api/jobs/x/cancel'],
    ['POST', '/api/jobs/x/retry'],
    ['POST', '/api/reports'],
    ['GET', '/api/reports/x'],
    ['GET', '/api/reports/x.csv'],
    ['GET', '/api/nothing'],
    ['DELETE', '/api/jobs'],
  ] as [string, string][];

  test.each(routes)('is asked for: %s %s', async (method, path) => {
    const refused = await guarded.request(path, { method });
    expect(refused).toMatchObject({
      status: 401,
      body: { title: 'Unauthorized', status: 401, code: 'UNAUTHORIZED' },
    });
    expect(refused.headers.get('www-authenticate')).toContain('Bearer');
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
  });

  test.each([
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Basic ${token}`,
    `Bearer`,
    `Bearer  `,
    token,
    `Bearer ${token} ${token}`,
  ])('%j is not it', async (authorization) => {
    expect((await guarded.get('/api/jobs', { authorization })).status).toBe(401);
  });

  test.each([`Bearer ${token}`, `bearer  ${token}`])('%j is it', async (authorization) => {
    expect((await guarded.get('/api/jobs', { authorization })).status).toBe(200);
  });

  test.each(['/healthz', '/readyz', '/'])('%s is open', async (path) => {
    expect((await guarded.get(path)).status).toBe(200);
  });

  test('a body is not read before it', async () => {
    expect((await guarded.post('/api/events', 'x'.repeat(1_000_000))).status).toBe(401);
  });
});

describe('a request that leads nowhere', () => {
  test.each(['/nothing', '/api/nothing', '/api/jobs/a/b/c'])('%s is not found', async (path) => {
    expect(await app.get(path)).toMatchObject({ status: 404, body: { status: 404, code: 'NOT_FOUND' } });
  });

  test.each([
    ['DELETE', '/api/jobs', 'GET, HEAD'],
    ['PUT', '/api/events', 'POST, GET, HEAD'],
    ['GET', '/api/jobs/x/cancel', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('%s %s names the methods that do', async (method, path, allow) => {
    const refused = await app.request(path, { method });
    expect(refused).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
    expect(refused.headers.get('allow')?.split(', ').sort()).toEqual(allow.split(', ').sort());
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('without a database', () => {
  let alone: ReturnType<typeof createApp>;
  const lines: string[] = [];
  beforeAll(async () => {
    const prisma = createPrisma(`postgresql://ada:hunter2@127.0.0.1:${await freePort()}/nowhere`);
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    alone = createApp({ prisma, logger, config: { apiToken: undefined, allowPrivateWebhooks: false } });
  });

  test('the process is healthy, and not ready', async () => {
    expect((await alone.request('/healthz')).status).toBe(200);
    const ready = await alone.request('/readyz');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });

  test.each(['/api/jobs', '/api/events', '/api/endpoints'])(
    '%s says that, and when to come back',
    async (path) => {
      const refused = await alone.request(path);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.json()).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    },
  );

  test('the log tells each request, and no secret', () => {
    expect(JSON.parse(lines.find((line) => line.includes('/api/jobs')) ?? '')).toMatchObject({
      level: 40,
      msg: 'request turned away',
      method: 'GET',
      path: '/api/jobs',
      status: 503,
      durationMs: expect.any(Number),
      requestId: expect.any(String),
      err: expect.any(Object),
    });
    expect(lines.join()).not.toContain('hunter2');
  });
});
