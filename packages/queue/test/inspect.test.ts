import { beforeEach, describe, expect, test } from 'vitest';
import { countJobs, enqueue, findJob, InvalidOptionError, listJobs, readBacklog } from '../src/index.ts';
import { findHeads, settleRuns } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, complete, enqueueJobs, failed, newClaim, newContract } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

beforeEach(async () => {
  await prisma.jobQueue.deleteMany();
});

const idsOf = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

describe('findJob', () => {
  test('tells the row, but not its token', async () => {
    const contract = newContract();
    const [id = ''] = await enqueueJobs(prisma, contract, 1, { priority: 'low', dedupeKey: 'k' });
    const [claim] = await claimOf(prisma, contract);
    const found = await row(id);
    const { claimToken, retryDelayMs, concurrencyKey, trace, ...shown } = found;
    expect(await findJob(prisma, id)).toEqual({ ...shown, priority: 'low' });
    expect(claimToken).toBe(claim?.claimToken);
    expect([retryDelayMs, concurrencyKey, trace]).toEqual([expect.any(Number), null, null]);
  });

  test('tells result, errors and the times of a job that has ended', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 } });
    const first = await newClaim(prisma, contract);
    await settleRuns(prisma, [failed(first)]);
    await prisma.jobQueue.update({ where: { id: first.id }, data: { runAt: new Date(0) } });
    const [second] = await claimOf(prisma, contract);
    if (second) await settleRuns(prisma, [complete(second, '{"n":1}')]);
    const found = await row(first.id);
    expect(await findJob(prisma, first.id)).toMatchObject({
      state: 'completed',
      result: { n: 1 },
      attempts: 2,
      lockUntil: null,
      ...{
        finishedAt: found.finishedAt,
        runAt: new Date(0),
      },
      errors: [
        {
          attempt: 1,
          kind: 'failed',
          worker: 'worker-1',
          at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        },
      ],
    });
  });

  test('is undefined where there is no such job', async () => {
    expect(await findJob(prisma, '01a22acf-4ea4-7151-bc43-831552cb7b85')).toBeUndefined();
    await expect(findJob(prisma, "' OR true --")).rejects.toThrow(InvalidOptionError);
  });
});

describe('listJobs', () => {
  test('gives the youngest first, page by page', async () => {
    const ids = (await enqueueJobs(prisma, newContract(), 120)).reverse();
    const pages: string[][] = [];
    for (let before: string | undefined; ; before = pages.at(-1)?.at(-1)) {
      const page = idsOf(await listJobs(prisma, before === undefined ? {} : { before }));
      if (page.length === 0) break;
      pages.push(page);
    }
    expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
    expect(pages.flat()).toEqual(ids);
  });

  test('filters by type and state', async () => {
    const one = newContract();
    const two = newContract();
    const done = await newClaim(prisma, one);
    await settleRuns(prisma, [complete(done)]);
    const running = await newClaim(prisma, one);
    const [pending = ''] = await enqueueJobs(prisma, one, 1);
    const [other = ''] = await enqueueJobs(prisma, two, 1);
    expect(idsOf(await listJobs(prisma))).toEqual([other, pending, running.id, done.id]);
    expect(idsOf(await listJobs(prisma, { type: one.type }))).toEqual([pending, running.id, done.id]);
    expect(idsOf(await listJobs(prisma, { states: ['pending', 'completed'] }))).toEqual([
      other,
      pending,
      done.id,
    ]);
    expect(idsOf(await listJobs(prisma, { type: one.type, states: ['running'], limit: 1 }))).toEqual([
      running.id,
    ]);
    expect(await listJobs(prisma, { states: [] })).toEqual([]);
  });

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
    ['limit', { limit: 1.5 }],
    ['states', { states: ['done'] }],
    ['before', { before: '7' }],
    ['type', { type: 'a\0' }],
    ['type', { type: 7 }],
    ['states', { states: 'dead' }],
    ['options.state', { state: 'dead' }],
  ])('refuses %s in %j', async (field, options) => {
    await expect(listJobs(prisma, options as object)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      field,
    });
  });
});

test('countJobs counts by type and state', async () => {
  const one = newContract({ type: 'count.a' });
  const two = newContract({ type: 'count.b' });
  await settleRuns(prisma, [complete(await newClaim(prisma, one))]);
  await enqueueJobs(prisma, one, 3);
  await newClaim(prisma, two);
  expect(await countJobs(prisma)).toEqual([
    { type: 'count.a', state: 'completed', count: 1 },
    { type: 'count.a', state: 'pending', count: 3 },
    { type: 'count.b', state: 'running', count: 1 },
  ]);
});

describe('readBacklog', () => {
  test('tells what waits, by type, and since when', async () => {
    const busy = newContract({ type: 'backlog.a' });
    const later = newContract({ type: 'backlog.b' });
    await enqueueJobs(prisma, busy, 2, { runAt: new Date(Date.now() - 60_000) });
    await enqueueJobs(prisma, busy, 1, { delay: '1h' });
    await enqueueJobs(prisma, later, 4, { delay: '1h' });
    await newClaim(prisma);
    const [first, second, ...rest] = await readBacklog(prisma);
    expect(first).toMatchObject({ type: 'backlog.a', due: 2, scheduled: 1 });
    expect(first?.oldestDueMs).toBeGreaterThan(59_000);
    expect(first?.oldestDueMs).toBeLessThan(90_000);
    expect(second).toEqual({ type: 'backlog.b', due: 0, scheduled: 4, oldestDueMs: 0 });
    expect(rest).toEqual([]);
  });
});

describe('the time to the next due job', () => {
  const dueInMs = async (types: string[]) => (await findHeads(prisma, types)).dueInMs;

  test('is the time to the first job for later of the types that were named', async () => {
    const one = newContract();
    const two = newContract();
    await enqueueJobs(prisma, one, 1, { delay: '10m', priority: 'urgent' });
    await enqueueJobs(prisma, one, 1, { delay: '5m', priority: 'low' });
    await enqueueJobs(prisma, two, 1, { delay: '1m' });
    const inMs = (await dueInMs([one.type])) ?? Number.NaN;
    expect(inMs).toBeGreaterThan(290_000);
    expect(inMs).toBeLessThanOrEqual(300_000);
    expect((await dueInMs([one.type, two.type])) ?? Number.NaN).toBeLessThanOrEqual(60_000);
  });

  test('is over for one that is due, because it may have become so after a claim that did not find it', async () => {
    const contract = newContract();
    await enqueueJobs(prisma, contract, 1);
    await enqueueJobs(prisma, contract, 1, { delay: '5m' });
    expect(await dueInMs([contract.type])).toBeLessThanOrEqual(0);
  });

  test('is null where there is none', async () => {
    await enqueue(prisma, newContract(), 1);
    expect(await dueInMs([newContract().type])).toBeNull();
    expect(await dueInMs([])).toBeNull();
  });
});
