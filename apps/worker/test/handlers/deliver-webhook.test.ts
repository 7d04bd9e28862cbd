import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import type { PrismaClient } from '@fencepost/db';
import { webhookDelivery } from '@fencepost/jobs';
import { cancel, enqueue, findJob, JobCancelledError, retry } from '@fencepost/queue';
import { reclaimJobs } from '@fencepost/queue/protocol';
import { runDueJobs } from '@fencepost/queue/testing';
import { waitFor } from '@fencepost/testing';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expireLease, handlersFor, makeDue, openDatabase, runJob, startJob } from './harness.ts';
import { answer, startReceiver, type Receiver } from './receiver.ts';

let prisma: PrismaClient;
let receiver: Receiver;
beforeAll(async () => {
  prisma = await openDatabase();
});
beforeEach(async () => {
  receiver = await startReceiver();
  await prisma.jobQueue.deleteMany();
});

const key = Buffer.from('a key of thirty-two bytes, or so');
const payload = { id: 7, name: 'Ada 🦀' };

async function emit(url: string, secret = `whsec_${key.toString('base64')}`) {
  return prisma.$transaction(async (tx) => {
    const endpoint = await tx.endpoint.create({ data: { url, secret, eventTypes: ['user.created'] } });
    const event = await tx.event.create({ data: { type: 'user.created', payload } });
    const ids = { eventId: event.id, endpointId: endpoint.id };
    const { id: jobId } = await enqueue(tx, webhookDelivery, ids);
    const delivery = await tx.delivery.create({ data: { ...ids, jobId } });
    return { jobId, event, endpoint, deliveryId: delivery.id };
  });
}

const deliveryOf = (id: string) => prisma.delivery.findUniqueOrThrow({ where: { id } });

const now = () =>
  prisma.$queryRaw<{ now: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::float8 AS "now"`;

describe('a delivery', () => {
  test('is posted with its signature, and recorded with the completion of its job', async () => {
    const { jobId, event, deliveryId } = await emit(receiver.url);
    await runDueJobs(prisma, handlersFor(prisma));

    expect(receiver.received).toHaveLength(1);
    const [{ method, url, headers, body }] = receiver.received as [Receiver['received'][0]];
    expect({ method, url }).toEqual({ method: 'POST', url: '/hooks?of=ada' });
    expect(JSON.parse(body)).toEqual({
      type: 'user.created',
      timestamp: event.createdAt.toISOString(),
      data: payload,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event.id,
      'idempotency-key': jobId,
      'fencepost-fence': '1',
    });
    const timestamp = String(headers['webhook-timestamp']);
    const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);

    const job = await findJob(prisma, jobId);
    expect(Number(timestamp)).toBe(Math.floor((job?.claimedAt?.getTime() ?? 0) / 1000));
    expect(job).toMatchObject({
      state: 'completed',
      attempts: 1,
      result: { status: 200, durationMs: expect.any(Number) },
    });
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: 200, deliveredAt: job?.finishedAt });
  });

  test('is recorded with the completion of its job where that deletes the job', async () => {
    const { jobId, deliveryId } = await emit(receiver.url);
    const [{ now: before } = { now: 0 }] = await now();
    await runJob(prisma, handlersFor(prisma), { keepCompleted: false });
    expect(await findJob(prisma, jobId)).toBeUndefined();
    const { status, deliveredAt } = await deliveryOf(deliveryId);
    expect(status).toBe(200);
    const [{ now: after } = { now: 0 }] = await now();
    expect(deliveredAt?.getTime()).toBeGreaterThanOrEqual(Math.floor(before));
    expect(deliveredAt?.getTime()).toBeLessThanOrEqual(after);
  });

  test('is signed with the bytes of a secret that is no whsec_', async () => {
    const { event } = await emit(receiver.url, 'sixteen characters');
    await runJob(prisma, handlersFor(prisma));
    const [{ headers, body }] = receiver.received as [Receiver['received'][0]];
    const signed = `${event.id}.${String(headers['webhook-timestamp'])}.${body}`;
    const signature = createHmac('sha256', 'sixteen characters').update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
  });

  test.each([201, 204, 299])('answered with %d is done', async (status) => {
    receiver.respond = answer(status);
    const { deliveryId } = await emit(receiver.url);
    await runJob(prisma, handlersFor(prisma));
    expect(await deliveryOf(deliveryId)).toMatchObject({ status, deliveredAt: expect.any(Date) });
  });

  test('that fails is tried again, as the same message in a later claim', async () => {
    const { jobId, deliveryId, endpoint } = await emit(receiver.url);
    receiver.respond = answer(500);
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({
      state: 'pending',
      errors: [
        {
          kind: 'failed',
          message: `DeliveryFailedError: endpoint ${endpoint.id} answered 500, expected 2xx`,
        },
      ],
    });
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: null, deliveredAt: null });

    receiver.respond = answer(200);
    await makeDue(prisma, jobId);
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'completed', attempts: 2 });
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: 200 });
    const [first, second] = receiver.received as [Receiver['received'][0], Receiver['received'][0]];
    expect(second.body).toBe(first.body);
    for (const name of ['webhook-id', 'idempotency-key'])
      expect(second.headers[name]).toBe(first.headers[name]);
    expect([first, second].map(({ headers }) => headers['fencepost-fence'])).toEqual(['1', '2']);
  });

  test('answered with 410 is not tried again', async () => {
    receiver.respond = answer(410);
    const { jobId, deliveryId } = await emit(receiver.url);
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({
      state: 'dead',
      attempts: 1,
      errors: [{ kind: 'discarded' }],
    });
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: 410, deliveredAt: null });
  });

  test.each([301, 302, 307, 308])('follows no redirect: %d', async (status) => {
    const elsewhere = await startReceiver();
    receiver.respond = (response) => void response.writeHead(status, { location: elsewhere.url }).end();
    const { jobId, endpoint } = await emit(receiver.url);
    await runJob(prisma, handlersFor(prisma));
    expect(elsewhere.connections()).toBe(0);
    expect((await findJob(prisma, jobId))?.errors[0]?.message).toContain(`${endpoint.id} answered ${status}`);
  });

  test('says what stood in its way, and not where it was to go', async () => {
    const { jobId } = await emit('http://127.0.0.1:1/token-in-the-path');
    await runJob(prisma, handlersFor(prisma));
    const [error] = (await findJob(prisma, jobId))?.errors ?? [];
    expect(error?.message).toContain('not reached: connect ECONNREFUSED');
    expect(JSON.stringify(error)).not.toContain('token-in-the-path');
  });

  test('whose rows are gone is discarded', async () => {
    const { jobId, event } = await emit(receiver.url);
    await prisma.event.delete({ where: { id: event.id } });
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'dead', errors: [{ kind: 'discarded' }] });
    expect(receiver.received).toEqual([]);
  });

  test('is made once more when an operator asks for it', async () => {
    const { jobId, deliveryId } = await emit(receiver.url);
    await runJob(prisma, handlersFor(prisma));
    expect(await retry(prisma, jobId)).toEqual({ outcome: 'retried' });
    receiver.respond = answer(202);
    await runJob(prisma, handlersFor(prisma));
    expect(receiver.received).toHaveLength(2);
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: 202 });
  });
});

describe('a receiver that takes its time', () => {
  test('is left at once when the job is cancelled', async () => {
    let closed = false;
    receiver.respond = (response) => void response.once('close', () => (closed = true));
    const { jobId, deliveryId } = await emit(receiver.url);
    const run = await startJob(prisma, handlersFor(prisma));
    await waitFor(() => receiver.received.length === 1);
    await cancel(prisma, jobId);
    const stopped = performance.now();
    run.stop(new JobCancelledError(jobId));
    expect(await run.settle()).toMatchObject({ outcome: 'cancelled' });
    await run.returned;
    // And not after the 15 seconds that any receiver is given.
    expect(performance.now() - stopped).toBeLessThan(5_000);
    await waitFor(() => closed);
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'cancelled' });
    expect(await deliveryOf(deliveryId)).toMatchObject({ deliveredAt: null });
  });

  test('is left after 15 seconds, long before the job itself would time out', async () => {
    receiver.respond = () => undefined;
    const { jobId } = await emit(receiver.url);
    const started = performance.now();
    await runJob(prisma, handlersFor(prisma));
    expect(performance.now() - started).toBeLessThan(webhookDelivery.timeoutMs - 5_000);
    expect(await findJob(prisma, jobId)).toMatchObject({
      state: 'pending',
      errors: [{ kind: 'failed', message: 'DeliveryFailedError: no answer within 15000 ms' }],
    });
  });

  test('over its body alone has answered', async () => {
    receiver.respond = (response) => void response.writeHead(200).write('and then');
    const { jobId } = await emit(receiver.url);
    const started = performance.now();
    await runJob(prisma, handlersFor(prisma));
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'completed' });
  });

  test('over an endless body is cut off', async () => {
    let sent = 0;
    let closed = false;
    const endless = Readable.from(
      (function* () {
        for (; ; sent += 16_384) yield Buffer.alloc(16_384);
      })(),
    );
    receiver.respond = (response) => {
      response.writeHead(200).once('close', () => (closed = true));
      endless.pipe(response);
    };
    const { jobId } = await emit(receiver.url);
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'completed' });
    await waitFor(() => closed);
    // What fits into the buffers of two sockets, and not what a second brings.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('for so long that the job is another run’s by then: nothing is recorded', async () => {
    const { jobId, deliveryId } = await emit(receiver.url);
    receiver.respond = async (response) => {
      await expireLease(prisma, jobId);
      await reclaimJobs(prisma, 10);
      response.writeHead(200).end();
    };
    expect(await runJob(prisma, handlersFor(prisma))).toMatchObject({
      outcome: 'failed',
      kind: 'claim_lost',
    });
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: null, deliveredAt: null });
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'pending', crashes: 1 });
  });

  test('to say 410, likewise', async () => {
    const { jobId, deliveryId } = await emit(receiver.url);
    receiver.respond = async (response) => {
      await expireLease(prisma, jobId);
      await reclaimJobs(prisma, 10);
      response.writeHead(410).end();
    };
    await runJob(prisma, handlersFor(prisma));
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: null });
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'pending' });
  });
});

describe('a private address is not connected to', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', 'localhost, which is (127.0.0.1|::1)'],
    ['[::1]', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['2130706433', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
  ])('%s', async (host, found) => {
    const { jobId, deliveryId } = await emit(`http://${host}:${receiver.port}/`);
    await runJob(prisma, handlersFor(prisma, { allowPrivateWebhooks: false }));
    const message = (await findJob(prisma, jobId))?.errors[0]?.message;
    expect(message).toMatch(new RegExp(`not reached: expected a public address, found ${found}$`));
    expect(receiver.connections()).toBe(0);
    expect(await deliveryOf(deliveryId)).toMatchObject({ status: null });
  });
});
