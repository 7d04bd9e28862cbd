import { findJob } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appOn, registerEndpoint, startApp, type TestApp } from './harness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  await app.prisma.jobQueue.deleteMany();
  await app.prisma.event.deleteMany();
  await app.prisma.endpoint.deleteMany();
});

const event = { type: 'user.created', payload: { id: 7, name: 'Ada' } };

async function stored() {
  const [events, deliveries, jobs] = await Promise.all([
    app.prisma.event.count(),
    app.prisma.delivery.count(),
    app.prisma.jobQueue.count(),
  ]);
  return { events, deliveries, jobs };
}

describe('an event', () => {
  test('is stored with one delivery and one job for each endpoint that subscribed', async () => {
    const endpoints = [
      await registerEndpoint(app, ['user.created']),
      await registerEndpoint(app, ['x', 'user.created']),
    ];
    await registerEndpoint(app, ['user.deleted', 'user']);

    const { status, headers, body } = await app.post('/api/events', event);
    expect(status).toBe(202);
    expect(body).toEqual({
      outcome: 'created',
      id: expect.any(String),
      jobIds: [expect.any(String), expect.any(String)],
    });
    expect(headers.get('location')).toBe(`/api/events/${body.id}`);
    expect(await stored()).toEqual({ events: 1, deliveries: 2, jobs: 2 });

    for (const [index, endpointId] of endpoints.entries()) {
      expect(await findJob(app.prisma, body.jobIds[index])).toMatchObject({
        type: 'webhook.deliver',
        state: 'pending',
        payload: { eventId: body.id, endpointId },
        dedupeKey: `${body.id}:${endpointId}`,
      });
    }
    const shown = await app.get(`/api/events/${body.id}`);
    expect(shown.body).toEqual({
      id: body.id,
      ...event,
      createdAt: expect.any(String),
      deliveries: endpoints.map((endpointId, index) => ({
        id: expect.any(String),
        endpointId,
        jobId: body.jobIds[index],
        status: null,
        durationMs: null,
        deliveredAt: null,
        createdAt: expect.any(String),
        job: {
          id: body.jobIds[index],
          state: 'pending',
          attempts: 0,
          maxAttempts: 20,
          runAt: expect.any(String),
        },
      })),
    });
  });

  test('that nobody subscribed to is stored alone', async () => {
    expect((await app.post('/api/events', event)).body).toMatchObject({ outcome: 'created', jobIds: [] });
    expect(await stored()).toEqual({ events: 1, deliveries: 0, jobs: 0 });
  });

  test('is listed with what has become of its deliveries, the youngest first', async () => {
    const endpointId = await registerEndpoint(app, ['user.created']);
    await registerEndpoint(app, ['user.created']);
    const first = (await app.post('/api/events', event)).body.id;
    const second = (await app.post('/api/events', { ...event, type: 'other' })).body.id;
    await app.prisma.delivery.update({
      where: { eventId_endpointId: { eventId: first, endpointId } },
      data: { status: 204, deliveredAt: new Date() },
    });
    expect((await app.get('/api/events')).body).toEqual({
      events: [
        { id: second, type: 'other', createdAt: expect.any(String), deliveries: 0, delivered: 0 },
        { id: first, type: 'user.created', createdAt: expect.any(String), deliveries: 2, delivered: 1 },
      ],
      next: null,
    });
  });

  test('is still shown when its jobs have been cleaned up', async () => {
    await registerEndpoint(app, ['user.created']);
    const { body } = await app.post('/api/events', event);
    await app.prisma.jobQueue.deleteMany();
    expect((await app.get(`/api/events/${body.id}`)).body.deliveries).toMatchObject([{ job: null }]);
  });

  test.each(['00000000-0000-7000-8000-000000000000', 'no-uuid'])('that does not exist: %s', async (id) => {
    expect(await app.get(`/api/events/${id}`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  test('leaves nothing when its transaction fails, and nothing of the reason gets out', async () => {
    const broken = await startApp();
    await registerEndpoint(broken, ['user.created']);
    await broken.prisma.$executeRawUnsafe(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'internals'; END $$`);
    await broken.prisma.$executeRawUnsafe(`
      CREATE TRIGGER refuse BEFORE INSERT ON delivery FOR EACH ROW EXECUTE FUNCTION refuse()`);

    const failed = await broken.post('/api/events', event, { 'idempotency-key': 'k' });
    expect(failed).toMatchObject({ status: 500, body: { code: 'INTERNAL', requestId: expect.any(String) } });
    expect(failed.text).not.toContain('internals');
    expect(await broken.prisma.event.count()).toBe(0);
    expect(await broken.prisma.jobQueue.count()).toBe(0);

    await broken.prisma.$executeRawUnsafe('DROP TRIGGER refuse ON delivery');
    expect((await broken.post('/api/events', event, { 'idempotency-key': 'k' })).status).toBe(202);
  });
});

describe('an Idempotency-Key', () => {
  beforeEach(async () => {
    await registerEndpoint(app, ['user.created']);
    await registerEndpoint(app, ['user.created']);
  });

  test('sent twice makes one event, answered with the same ids, whatever the order of its keys', async () => {
    const first = await app.post('/api/events', event, { 'idempotency-key': 'once' });
    const again = await app.post(
      '/api/events',
      '{"payload": {"name": "\\u0041da", "id": 7.0}, "type": "user.created"}',
      { 'idempotency-key': 'once' },
    );
    expect(again).toMatchObject({ status: 200, body: { ...first.body, outcome: 'deduplicated' } });
    expect(await stored()).toEqual({ events: 1, deliveries: 2, jobs: 2 });
  });

  test('knows numbers again that JSON spells in its own way', async () => {
    const body = '{"type": "n", "payload": {"zero": -0, "big": 1e21, "small": 5e-324, "tenth": 0.1}}';
    await app.post('/api/events', body, { 'idempotency-key': 'numbers' });
    expect(await app.post('/api/events', body, { 'idempotency-key': 'numbers' })).toMatchObject({
      status: 200,
    });
  });

  test('sent by two replicas at once, twenty times each, makes one event and one delivery each', async () => {
    const replica = appOn(app.databaseUrl);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? app : replica).post('/api/events', event, { 'idempotency-key': 'at-once' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      ...Array.from({ length: 39 }, () => 200),
      202,
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.jobIds.join())).size).toBe(1);
    expect(await stored()).toEqual({ events: 1, deliveries: 2, jobs: 2 });
  });

  test.each([
    ['commits', 200],
    ['rolls back', 202],
  ])('waits for another that is being stored with it, which %s', async (end, status) => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const other = app.prisma
      .$transaction(
        async (tx) => {
          await tx.event.create({ data: { ...event, idempotencyKey: 'held' } });
          await finished;
          if (end === 'rolls back') throw new Error('on purpose');
        },
        { timeout: 20_000 },
      )
      .catch(() => undefined);
    await waitFor(async () => (await openTransactions()) > 0);

    const answer = app.post('/api/events', event, { 'idempotency-key': 'held' });
    await waitFor(async () => (await waitingForLocks()) > 0);
    finish();
    await other;
    expect((await answer).status).toBe(status);
    expect(await app.prisma.event.count()).toBe(1);
  });

  test('is to be sent again when its connection is lost', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const replica = appOn(app.databaseUrl);
    const other = replica.prisma.$transaction(
      async (tx) => {
        await tx.event.create({ data: { ...event, idempotencyKey: 'lost' } });
        await finished;
        throw new Error('on purpose');
      },
      { timeout: 20_000 },
    );
    await waitFor(async () => (await openTransactions()) > 0);
    const answer = app.post('/api/events', event, { 'idempotency-key': 'lost' });
    await waitFor(async () => {
      const [row] = await replica.prisma.$queryRaw<{ ended: boolean }[]>`
        SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row?.ended;
    });
    expect(await answer).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } });
    finish();
    await expect(other).rejects.toThrow('on purpose');
    expect((await app.post('/api/events', event, { 'idempotency-key': 'lost' })).status).toBe(202);
  });

  test.each([
    ['type', { ...event, type: 'user.deleted' }],
    ['payload', { ...event, payload: { id: 8, name: 'Ada' } }],
  ])('with another %s is refused', async (_what, other) => {
    const first = await app.post('/api/events', event, { 'idempotency-key': 'taken' });
    const refused = await app.post('/api/events', other, { 'idempotency-key': 'taken' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_TAKEN' } });
    expect(refused.body.detail).toContain(first.body.id);
    expect(await stored()).toEqual({ events: 1, deliveries: 2, jobs: 2 });
  });

  test.each(['', 'two words', 'x'.repeat(256), 'ü'])('%j is none', async (key) => {
    const refused = await app.post('/api/events', event, { 'idempotency-key': key });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ header: 'Idempotency-Key' }] } });
  });
});

describe('a payload', () => {
  test.each([
    ['{}'],
    ['{"$type": "DateTime", "value": "x"}'],
    ['{"set": 1, "toJSON": "x", "then": null}'],
    ['{"constructor": 1, "prototype": {}}'],
    ['{"": "\u{1F980} \\" \\\\ \\u2028 \\u0001", "deep": [[[[{}]]], null, true, 1.5e-7]}'],
  ])('%s is kept as it is', async (payload) => {
    const { body } = await app.post('/api/events', `{"type": "odd", "payload": ${payload}}`);
    const { text } = await app.get(`/api/events/${body.id}`);
    const kept = text.slice(text.indexOf('"payload":') + 10);
    const { payload: shown } = JSON.parse(`{"payload":${kept}`) as { payload: unknown };
    expect(JSON.stringify(sorted(shown))).toBe(JSON.stringify(sorted(JSON.parse(payload))));
  });

  test.each([
    ['null', 'Expected a JSON object', '/payload'],
    ['[1]', 'Expected a JSON object', '/payload'],
    ['"text"', 'Expected a JSON object', '/payload'],
    ['{"a": [{"b": "x\\u0000y"}]}', 'NUL', '/payload/a/0/b'],
    ['{"a": "\\ud800"}', 'lone surrogate', '/payload/a'],
    ['{"a": {"\\u0000": 1}}', 'NUL', '/payload/a'],
    ['{"a": {"__proto__": 1}}', 'would be lost', '/payload/a'],
    ['{"a": [{"$type": ""}]}', 'cannot be stored', '/payload/a/0'],
    ['{"a": {"constructor": 1, "b": [{"$type": "x"}]}}', 'would be changed', '/payload/a/b/0'],
    ['{"a/b~c": 1e999}', 'too great', '/payload/a~1b~0c'],
    [`{"a": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'deeper than 100 levels', '/payload'],
  ])('%# is refused: %j', async (payload, detail, pointer) => {
    const refused = await app.post('/api/events', `{"type": "odd", "payload": ${payload}}`);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([{ pointer, detail: expect.stringContaining(detail) }]);
  });
});

describe('a body', () => {
  test.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonish'])(
    'of type %s is refused',
    async (type) => {
      const refused = await app.request('/api/events', {
        method: 'POST',
        body: new TextEncoder().encode(JSON.stringify(event)),
        ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      });
      expect(refused).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    },
  );

  test.each(['application/json; charset=utf-8', 'application/vnd.api+json', 'Application/JSON'])(
    'of type %s is taken',
    async (type) => {
      expect((await app.post('/api/events', event, { 'content-type': type })).status).toBe(202);
    },
  );

  test.each(['', '{', '{"type": "x",}', 'undefined'])('that is no JSON is refused: %j', async (body) => {
    const refused = await app.request('/api/events', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
  });

  test('that is not written in UTF-8 is refused, not read as something else', async () => {
    const body = Buffer.from('{"type": "x", "payload": {"name": "Zoë"}}', 'latin1');
    const refused = await app.request('/api/events', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(body),
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
  });

  test('that is no JSON is not quoted', async () => {
    const refused = await app.post('/api/endpoints', 'hunter2');
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
    expect(refused.text).not.toContain('hunter2');
  });

  test('up to 128 KiB is taken, and not a byte more, whether its length is told or not', async () => {
    const limit = 128 * 1024;
    expect((await app.post('/api/events', eventOf(limit))).status).toBe(202);
    expect((await app.post('/api/events', eventOf(limit), lengthOf(eventOf(limit)))).status).toBe(202);
    for (const refused of [
      await app.post('/api/events', eventOf(limit + 1)),
      await app.post('/api/events', eventOf(limit + 1), lengthOf(eventOf(limit + 1))),
    ]) {
      expect(refused).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
    }
  });
});

/** An event of exactly so many bytes. */
function eventOf(bytes: number): string {
  const frame = JSON.stringify({ type: 'big', payload: { text: '' } });
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
}

function lengthOf(text: string): Record<string, string> {
  return { 'content-length': String(text.length) };
}

async function openTransactions(): Promise<number> {
  const [row] = await app.prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction'`;
  return row?.count ?? 0;
}

async function waitingForLocks(): Promise<number> {
  const [row] = await app.prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}

/** jsonb has an order of keys of its own. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
