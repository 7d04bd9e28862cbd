import { randomUUID } from 'node:crypto';
import type { PrismaClient } from '@fencepost/db';
import { deliveryReport } from '@fencepost/jobs';
import { enqueue, findJob, JobCancelledError, retry, type QueueClient } from '@fencepost/queue';
import { reclaimJobs } from '@fencepost/queue/protocol';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expireLease, handlersFor, openDatabase, runJob, startJob } from './harness.ts';

let prisma: PrismaClient;
let endpointId: string;
beforeAll(async () => {
  prisma = await openDatabase();
});
beforeEach(async () => {
  for (const table of ['job_queue', 'endpoint', 'event', 'report'])
    await prisma.$executeRawUnsafe(`DELETE FROM ${table}`);
  const data = { url: 'https://hooks.example/?a=1,2', secret: 'never to be seen', eventTypes: ['x'] };
  endpointId = (await prisma.endpoint.create({ data })).id;
});

async function deliver(count: number, type = 'user.created'): Promise<string[]> {
  const events = await prisma.event.createManyAndReturn({
    data: Array.from({ length: count }, () => ({ type, payload: {} })),
    select: { id: true },
  });
  const deliveries = await prisma.delivery.createManyAndReturn({
    data: events.map(({ id: eventId }) => ({ eventId, endpointId, jobId: randomUUID() })),
    select: { id: true },
  });
  return deliveries.map(({ id }) => id).sort();
}

async function ask(): Promise<{ id: string; jobId: string }> {
  const id = randomUUID();
  return prisma.$transaction(async (tx) => {
    const { id: jobId } = await enqueue(tx, deliveryReport, { reportId: id });
    return tx.report.create({ data: { id, jobId } });
  });
}

async function chunksOf(reportId: string): Promise<string[]> {
  const chunks = await prisma.reportChunk.findMany({ where: { reportId }, orderBy: { index: 'asc' } });
  expect(chunks.map(({ index }) => index)).toEqual(chunks.map((_chunk, index) => index));
  return chunks.map(({ content }) => content);
}

async function idsIn(reportId: string): Promise<string[]> {
  const lines = (await chunksOf(reportId)).join('').trimEnd().split('\r\n').slice(1);
  return lines.map((line) => line.slice(0, line.indexOf(',')));
}

const reportOf = (id: string) => prisma.report.findUniqueOrThrow({ where: { id } });

/** A client through which the run writes its progress; `after` happens when it has written so much. */
function progressClient(after: (writes: number) => void | Promise<void>): QueueClient {
  const real: QueueClient = prisma;
  let writes = 0;
  return {
    jobQueue: real.jobQueue,
    $executeRaw: (query, ...values) => real.$executeRaw(query, ...values),
    async $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]) {
      const rows = await real.$queryRaw<T>(query, ...values);
      await after(++writes);
      return rows;
    },
  };
}

/** Ends a run after its first page, as a drain does. */
async function runUntilDrained(): Promise<void> {
  const draining = new AbortController();
  const client = progressClient(() => draining.abort());
  expect(await runJob(prisma, handlersFor(prisma), { client, draining: draining.signal })).toEqual({
    outcome: 'snoozed',
    delayMs: 0,
  });
}

describe('a report', () => {
  test('of nothing is a header', async () => {
    const { id, jobId } = await ask();
    await runJob(prisma, handlersFor(prisma));
    expect(await chunksOf(id)).toEqual([
      'delivery_id,event_id,event_type,endpoint_id,endpoint_url,job_id,status,duration_ms,delivered_at,created_at\r\n',
    ]);
    const job = await findJob(prisma, jobId);
    expect(job).toMatchObject({ state: 'completed', result: { rows: 0, chunks: 1 } });
    expect(await reportOf(id)).toMatchObject({ rows: 0, completedAt: job?.finishedAt });
  });

  test('is complete where its completion deletes its job', async () => {
    const { id, jobId } = await ask();
    await runJob(prisma, handlersFor(prisma), { keepCompleted: false });
    expect(await findJob(prisma, jobId)).toBeUndefined();
    expect(await chunksOf(id)).toHaveLength(1);
    expect((await reportOf(id)).completedAt).toBeInstanceOf(Date);
  });

  test('tells each delivery as it is, and no secret', async () => {
    const [pending, done] = (await deliver(2, '-cmd')) as [string, string];
    const at = new Date('2026-01-02T03:04:05.678Z');
    const data = { status: 204, durationMs: 12, deliveredAt: at, createdAt: at };
    const delivered = await prisma.delivery.update({ where: { id: done }, data });
    const { id } = await ask();
    await runJob(prisma, handlersFor(prisma));
    const csv = (await chunksOf(id)).join('');
    const { eventId, jobId } = delivered;
    expect(csv).toContain(
      `${done},${eventId},'-cmd,${endpointId},"https://hooks.example/?a=1,2",${jobId},204,12,` +
        '2026-01-02T03:04:05.678Z,2026-01-02T03:04:05.678Z\r\n',
    );
    expect(csv).toMatch(new RegExp(`\r\n${pending},[^\r]*,,,,`));
    expect(csv).not.toContain('never to be seen');
  });

  test('comes in chunks of one page, each delivery in it once', async () => {
    const ids = await deliver(1_234);
    const { id, jobId } = await ask();
    await runJob(prisma, handlersFor(prisma));
    expect(await idsIn(id)).toEqual(ids);
    expect(await chunksOf(id)).toHaveLength(4);
    expect(await reportOf(id)).toMatchObject({ rows: 1_234, completedAt: expect.any(Date) });
    expect((await findJob(prisma, jobId))?.progress).toEqual({ chunks: 4, rows: 1_234, after: ids.at(-1) });
  });

  test('leaves out what was delivered after it was asked for', async () => {
    const ids = await deliver(3);
    const { id } = await ask();
    await prisma.delivery.updateMany({
      where: { id: ids[2] ?? '' },
      data: { createdAt: new Date('2999-01-01') },
    });
    await runJob(prisma, handlersFor(prisma));
    expect(await idsIn(id)).toEqual(ids.slice(0, 2));
  });

  test('that is gone is discarded', async () => {
    const { id, jobId } = await ask();
    await prisma.report.delete({ where: { id } });
    await runJob(prisma, handlersFor(prisma));
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'dead' });
  });
});

describe('a run that has to end', () => {
  test('at a drain saves where it is, uncharged, and the next one goes on from there', async () => {
    const ids = await deliver(1_234);
    const { id, jobId } = await ask();
    await runUntilDrained();
    expect(await findJob(prisma, jobId)).toMatchObject({
      state: 'pending',
      attempts: 0,
      progress: { chunks: 2, rows: 500, after: ids[499] },
    });
    expect(await reportOf(id)).toMatchObject({ rows: 500, completedAt: null });
    const versions = await rowVersions(id);

    await runJob(prisma, handlersFor(prisma));
    expect(await idsIn(id)).toEqual(ids);
    expect(await reportOf(id)).toMatchObject({ rows: 1_234 });
    expect((await rowVersions(id)).slice(0, 2)).toEqual(versions);
  });

  test('between a chunk and its checkpoint: the chunk is written again', async () => {
    const ids = await deliver(1_234);
    const { id } = await ask();
    await runUntilDrained();
    await prisma.reportChunk.createMany({
      data: [2, 3, 4, 5].map((index) => ({ reportId: id, index, content: 'of a run that died here' })),
    });
    await runJob(prisma, handlersFor(prisma));
    expect(await idsIn(id)).toEqual(ids);
  });

  test('because it was cancelled stops after the page', async () => {
    await deliver(1_234);
    const { id, jobId } = await ask();
    const run = await startJob(prisma, handlersFor(prisma), {
      client: progressClient(() => void run.stop(new JobCancelledError(jobId))),
    });
    expect(await run.settle()).toMatchObject({ outcome: 'cancelled' });
    expect(await chunksOf(id)).toHaveLength(2);
  });

  test('because it has lost its claim writes nothing more', async () => {
    await deliver(1_234);
    const { id, jobId } = await ask();
    const client = progressClient(async () => {
      await expireLease(prisma, jobId);
      await reclaimJobs(prisma, 10);
    });
    expect(await runJob(prisma, handlersFor(prisma), { client })).toMatchObject({
      outcome: 'failed',
      kind: 'claim_lost',
    });
    expect(await chunksOf(id)).toHaveLength(2);
    expect(await reportOf(id)).toMatchObject({ rows: 500, completedAt: null });
    expect(await findJob(prisma, jobId)).toMatchObject({ state: 'pending', progress: { chunks: 2 } });
  });
});

describe('an operator’s retry', () => {
  test('of a finished report writes it anew', async () => {
    const [first] = await deliver(600);
    const { id, jobId } = await ask();
    await runJob(prisma, handlersFor(prisma));
    await prisma.delivery.update({ where: { id: first ?? '' }, data: { status: 299 } });
    await retry(prisma, jobId);
    await runJob(prisma, handlersFor(prisma));
    expect((await chunksOf(id)).join('')).toContain(',299,');
    expect(await idsIn(id)).toHaveLength(600);
  });

  test('starts from nothing where the chunks of its checkpoint are gone', async () => {
    const ids = await deliver(1_234);
    const { id } = await ask();
    await runUntilDrained();
    await prisma.reportChunk.delete({ where: { reportId_index: { reportId: id, index: 0 } } });
    await runJob(prisma, handlersFor(prisma));
    expect(await idsIn(id)).toEqual(ids);
  });
});

/** Which write each chunk comes from. */
async function rowVersions(reportId: string): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ xmin: string }[]>`
    SELECT xmin::text FROM report_chunk WHERE "reportId" = ${reportId}::uuid ORDER BY index`;
  return rows.map(({ xmin }) => xmin);
}
