/** Ids, filters, cursors and limits of whoever reads, cancels and retries jobs. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { cancel, countJobs, findJob, listJobs, readBacklog, retry, type Job } from '../../src/index.ts';
import { openDatabase } from '../fixtures/database.ts';
import { enqueueJobs, newContract } from '../fixtures/jobs.ts';
import { answerOf, anyValue, HOSTILE, namesField, revoked } from './hostile.ts';

const RUNS = 60;
const JOBS = 7;

const { prisma } = await openDatabase();
const contract = newContract();
beforeAll(async () => void (await enqueueJobs(prisma, contract, JOBS)));

type Call = (...args: unknown[]) => Promise<unknown>;
const byId = [cancel, retry, findJob] as unknown as Call[];
const withoutId = [listJobs, countJobs, readBacklog] as unknown as Call[];

const spelled = fc.oneof(
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => `{${id}}`),
  fc.uuid().map((id) => ` ${id}`),
  fc.uuid().map((id) => `${id}\n`),
  fc.uuid().map((id) => id.replaceAll('-', '')),
  fc.uuid().map((id) => [id]),
  anyValue,
);

test('any id', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...byId), spelled, async (call, id) => {
      const answer = await answerOf(() => call(prisma, id));
      if ('error' in answer) {
        expect(namesField(answer.error, /^id$/)).toBe(true);
        return;
      }
      // A proper id, and nobody's.
      expect(id).toMatch(/^[0-9a-f-]{36}$/i);
      expect([undefined, { outcome: 'not_found' }]).toContainEqual(answer.value);
    }),
    { numRuns: RUNS },
  );
  expect(await prisma.jobQueue.count({ where: { state: 'pending' } })).toBe(JOBS);
});

const filter = fc.record(
  {
    type: fc.oneof(fc.constant(contract.type), fc.string({ unit: 'binary' }), anyValue),
    states: fc.oneof(fc.array(fc.constantFrom('pending', 'dead', 'running')), fc.array(anyValue), anyValue),
    before: spelled,
    limit: fc.oneof(fc.integer({ min: -1, max: 501 }), anyValue),
  },
  { requiredKeys: [] },
);

test('any filter', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(filter, async (given) => {
      const answer = await answerOf(() => (listJobs as Call)(prisma, given));
      if ('error' in answer) {
        expect(namesField(answer.error, /^(type|states|before|limit)$/)).toBe(true);
        return;
      }
      const jobs = answer.value as Job[];
      expect(jobs.length).toBeLessThanOrEqual((given.limit as number | undefined) ?? 50);
      if (given.type !== undefined) expect(jobs.every(({ type }) => type === given.type)).toBe(true);
      if (given.states !== undefined) {
        expect(jobs.every(({ state }) => (given.states as string[]).includes(state))).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ['options.state', { state: 'dead' }],
  ['options', null],
  ['options', 'dead'],
  ['type', { type: 'a\0' }],
])('a filter that says nothing is not passed over: %s in %j', async (field, given) => {
  const answer = await answerOf(() => (listJobs as Call)(prisma, given));
  expect(namesField((answer as { error: unknown }).error, new RegExp(`^${field}$`))).toBe(true);
});

test('what is no client', async () => {
  const id = '00000000-0000-7000-8000-000000000000';
  for (const junk of [...HOSTILE, revoked(), undefined, null, { $queryRaw: () => [] }]) {
    for (const call of byId) {
      expect(
        namesField(((await answerOf(() => call(junk, id))) as { error: unknown }).error, /^client$/),
      ).toBe(true);
    }
    for (const call of withoutId) {
      expect(namesField(((await answerOf(() => call(junk))) as { error: unknown }).error, /^client$/)).toBe(
        true,
      );
    }
  }
});
