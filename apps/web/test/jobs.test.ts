import { defineJob, enqueue, handle } from '@fencepost/queue';
import { claimJobs } from '@fencepost/queue/protocol';
import { runDueJobs } from '@fencepost/queue/testing';
import { waitFor } from '@fencepost/testing';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { appOn, startApp, type TestApp } from './harness.ts';

let app: TestApp;
/** A second web process, as far as the database can tell. */
let replica: TestApp;
beforeAll(async () => {
  app = await startApp();
  replica = appOn(app.databaseUrl);
});
beforeEach(async () => {
  await app.prisma.jobQueue.deleteMany();
});

const greeting = defineJob({ type: 'greeting', payload: z.object({ name: z.string() }), maxAttempts: 1 });
const failing = handle(greeting, () => Promise.reject(new Error('no greetings today')));

async function pending(options = {}): Promise<string> {
  return (await enqueue(app.prisma, greeting, { name: 'Ada' }, options)).id;
}

async function running(): Promise<string> {
  const id = await pending();
  await claimJobs(app.prisma, { workerId: 'elsewhere', wanted: [{ ...greeting, slots: 1 }], capacity: 1 });
  return id;
}

async function dead(options = {}): Promise<string> {
  const id = await pending(options);
  await runDueJobs(app.prisma, [failing]);
  return id;
}

const UNKNOWN = '00000000-0000-7000-8000-000000000000';

describe('reading', () => {
  test('a job, whole, through the replica that did not take it in', async () => {
    const id = await dead();
    const { status, body } = await replica.get(`/api/jobs/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      type: 'greeting',
      state: 'dead',
      payload: { name: 'Ada' },
      attempts: 1,
    });
    expect(body.errors).toMatchObject([{ attempt: 1, kind: 'failed', message: 'no greetings today' }]);
    expect(body).not.toHaveProperty('claimToken');
  });

  test('lists by state and type, without what can be long', async () => {
    const ids = { dead: await dead(), running: await running(), pending: await pending({ delay: '1h' }) };
    for (const state of ['dead', 'running', 'pending'] as const) {
      const { body } = await app.get(`/api/jobs?state=${state}`);
      expect(body).toMatchObject({ jobs: [{ id: ids[state], state }], next: null });
    }
    const { body } = await app.get('/api/jobs?type=greeting');
    expect(body.jobs).toHaveLength(3);
    expect(body.jobs.find((job: { id: string }) => job.id === ids.dead).lastError).toBe('no greetings today');
    expect(body.jobs[0]).not.toHaveProperty('payload');
    expect((await app.get('/api/jobs?type=other')).body.jobs).toEqual([]);
  });

  test('lists in pages, the youngest first', async () => {
    const made = [await pending(), await pending(), await pending()].reverse();
    const first = await app.get('/api/jobs?limit=2');
    expect(first.body.next).toBe(made[1]);
    const second = await app.get(`/api/jobs?limit=2&before=${first.body.next}`);
    expect(second.body.next).toBeNull();
    expect([...first.body.jobs, ...second.body.jobs].map(({ id }) => id)).toEqual(made);
  });

  test.each([
    'state=done',
    'before=x',
    'limit=1000',
    'status=dead',
    'state=dead&state=pending',
    'limit=1&limit=2',
  ])('refuses the query %s', async (query) => {
    expect(await app.get(`/api/jobs?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY' },
    });
  });
});

describe('cancelling', () => {
  test('a pending job', async () => {
    const id = await pending();
    expect(await replica.post(`/api/jobs/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { outcome: 'cancelled' },
    });
    expect((await app.get(`/api/jobs/${id}`)).body.state).toBe('cancelled');
  });

  test('a running one asks its worker', async () => {
    const id = await running();
    expect(await replica.post(`/api/jobs/${id}/cancel`)).toMatchObject({
      status: 202,
      body: { outcome: 'requested' },
    });
    expect((await app.get(`/api/jobs/${id}`)).body).toMatchObject({
      state: 'running',
      cancelRequestedAt: expect.any(String),
    });
  });

  test('a finished one is refused', async () => {
    const id = await dead();
    expect(await app.post(`/api/jobs/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_FINISHED', state: 'dead' },
    });
  });
});

describe('retrying', () => {
  test('a dead job gives it another life', async () => {
    const id = await dead();
    expect(await replica.post(`/api/jobs/${id}/retry`)).toMatchObject({
      status: 200,
      body: { outcome: 'retried' },
    });
    expect((await app.get(`/api/jobs/${id}`)).body).toMatchObject({ state: 'pending', attempts: 0 });
    expect((await app.get(`/api/jobs/${id}`)).body.errors).toHaveLength(1);
  });

  test.each([
    ['pending', pending],
    ['running', running],
  ])('a %s one is refused', async (state, make) => {
    const id = await make();
    expect(await app.post(`/api/jobs/${id}/retry`)).toMatchObject({
      status: 409,
      body: { code: 'NOT_FINISHED', state },
    });
  });

  test('one whose dedupe key another job has is refused', async () => {
    const id = await dead({ dedupeKey: 'ada' });
    const other = await pending({ dedupeKey: 'ada' });
    expect(await app.post(`/api/jobs/${id}/retry`)).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE', duplicateId: other },
    });
  });
});

describe.each(['cancel', 'retry'])('%s', (action) => {
  const make = action === 'cancel' ? pending : dead;

  test('a job that does not exist', async () => {
    expect(await app.post(`/api/jobs/${UNKNOWN}/${action}`)).toMatchObject({ status: 404 });
  });

  test('an id that is none', async () => {
    const refused = await app.post(`/api/jobs/7/${action}`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_OPTION' } });
    expect(refused.body.detail).toBe('id: expected a UUID, found "7"');
  });

  test('a row that somebody holds for long: come back later', async () => {
    const id = await make();
    const held = await hold(id);
    const refused = await app.post(`/api/jobs/${id}/${action}`);
    await held.release();
    expect(refused).toMatchObject({ status: 503, body: { code: 'JOB_BUSY' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await app.post(`/api/jobs/${id}/${action}`)).status).toBe(200);
  });

  test('a row that somebody holds for a moment is waited for', async () => {
    const id = await make();
    const held = await hold(id);
    const answer = app.post(`/api/jobs/${id}/${action}`);
    // It asks again for three tenths of a second.
    await held.wasMet();
    await held.release();
    expect((await answer).status).toBe(200);
  });
});

test('reading a job that does not exist, or an id that is none', async () => {
  expect(await app.get(`/api/jobs/${UNKNOWN}`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  expect(await app.get('/api/jobs/7')).toMatchObject({ status: 400, body: { code: 'INVALID_OPTION' } });
});

/** Locks the row in a transaction of another connection. */
async function hold(id: string): Promise<{ wasMet: () => Promise<unknown>; release: () => Promise<void> }> {
  let isHeld = false;
  let letGo!: () => void;
  const untilLetGo = new Promise<void>((resolve) => (letGo = resolve));
  const transaction = replica.prisma.$transaction(
    async (tx) => {
      await tx.$queryRaw`SELECT id FROM job_queue WHERE id = ${id}::uuid FOR UPDATE`;
      isHeld = true;
      await untilLetGo;
    },
    { timeout: 20_000 },
  );
  await waitFor(() => isHeld);
  const [now] = await replica.prisma.$queryRaw<{ at: string }[]>`SELECT clock_timestamp()::text AS at`;
  return {
    /** Somebody has passed the row by since. */
    wasMet: () =>
      waitFor(async () => {
        const met = await replica.prisma.$queryRaw<unknown[]>`
          SELECT pid
          FROM pg_stat_activity
          WHERE datname = current_database()
            AND query LIKE '%"held"%'
            AND query NOT LIKE '%pg_stat_activity%'
            AND query_start > ${now!.at}::timestamptz
            AND state = 'idle'`;
        return met.length > 0;
      }),
    async release() {
      letGo();
      await transaction;
    },
  };
}
