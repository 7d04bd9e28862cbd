/** Options and items of enqueue: what is taken is on the row, what is not is named, and then there is no row. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enqueue, enqueueMany, PRIORITIES, type Priority } from '../../src/index.ts';
import { openDatabase } from '../fixtures/database.ts';
import { newContract } from '../fixtures/jobs.ts';
import { answerOf, anyValue, namesField, revoked, untouchable } from './hostile.ts';

const RUNS = 80;
const ITEM_RUNS = 25;

const { prisma } = await openDatabase();

// The functions as JavaScript sees them.
const call = enqueue as (...args: unknown[]) => Promise<{ id: string }>;
const callMany = enqueueMany as (...args: unknown[]) => Promise<unknown[]>;
const count = (type: string) => prisma.jobQueue.count({ where: { type } });

const options = fc.record(
  {
    runAt: fc.oneof(fc.date({ min: new Date('1960-01-01'), max: new Date('2300-01-01') }), anyValue),
    delay: fc.oneof(
      fc.integer({ min: -10, max: 400_000_000 }),
      fc
        .tuple(fc.nat({ max: 99_999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'w', '', ' s'))
        .map((parts) => parts.join('')),
      anyValue,
    ),
    priority: fc.oneof(fc.constantFrom(...Object.keys(PRIORITIES)), anyValue),
    dedupeKey: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 520 }),
      fc.constantFrom(
        '2026-01-01T00:00:00.000Z',
        'NULL',
        '{"a"}',
        '\\',
        '"',
        "';--",
        '{}',
        '[]',
        'null',
        '7',
      ),
      anyValue,
    ),
  },
  { requiredKeys: [] },
);

test('any options', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(options, async (given) => {
      const contract = newContract();
      const answer = await answerOf(() => call(prisma, contract, 1, given));
      if ('error' in answer) {
        expect(namesField(answer.error, /^(runAt|delay|priority|dedupeKey)$/)).toBe(true);
        expect(await count(contract.type)).toBe(0);
        return;
      }
      const row = await prisma.jobQueue.findUniqueOrThrow({ where: { id: answer.value.id } });
      expect(row.dedupeKey).toBe(given.dedupeKey ?? null);
      expect(row.priority).toBe(PRIORITIES[(given.priority ?? 'normal') as Priority]);
      if (given.runAt !== undefined) {
        expect(row.runAt.getTime()).toBe(Date.prototype.getTime.call(given.runAt as Date));
      }
    }),
    { numRuns: RUNS },
  );
});

describe('a call that is none of ours', () => {
  test.each<[string, RegExp, (contract: unknown) => unknown[]]>([
    [
      'a proxy that was revoked for a date',
      /^runAt$/,
      (contract) => [prisma, contract, 1, { runAt: revoked() }],
    ],
    ['no client', /^client$/, (contract) => [undefined, contract, 1]],
    ['the contract first', /^client$/, (contract) => [contract, 1]],
    ['a client without the model', /^client$/, (contract) => [{ $queryRaw: () => [] }, contract, 1]],
    ['a client that throws', /^client$/, (contract) => [untouchable, contract, 1]],
    ['no contract', /^contract$/, () => [prisma, undefined, 1]],
    [
      'a bare definition',
      /^contract$/,
      (contract) => [prisma, { type: 'x', payload: (contract as { payload: unknown }).payload }, 1],
    ],
    ['a handler', /^contract$/, (contract) => [prisma, { contract, run: () => {} }, 1]],
    ['a contract that throws', /^contract$/, () => [prisma, untouchable, 1]],
    ['null for options', /^options$/, (contract) => [prisma, contract, 1, null]],
    ['a list for options', /^options$/, (contract) => [prisma, contract, 1, []]],
    ['text for options', /^options$/, (contract) => [prisma, contract, 1, 'high']],
    ['options that throw', /^options$/, (contract) => [prisma, contract, 1, untouchable]],
    ['a misspelled option', /^options\.dedupekey$/, (contract) => [prisma, contract, 1, { dedupekey: 'k' }]],
    [
      'an option that does not exist',
      /^options\.maxAttempts$/,
      (contract) => [prisma, contract, 1, { maxAttempts: 3 }],
    ],
    [
      'an own __proto__',
      /^options\.__proto__$/,
      (contract) => [prisma, contract, 1, JSON.parse('{"__proto__":1}')],
    ],
  ])('%s', async (_, field, argsOf) => {
    const contract = newContract();
    const answer = await answerOf(() => call(...argsOf(contract)));
    expect(namesField((answer as { error: unknown }).error, field)).toBe(true);
    expect(await count(contract.type)).toBe(0);
  });
});

test('any items: one that is wrong, and none is there', { timeout: 60_000 }, async () => {
  const wrongLevel = anyValue.filter((value) => value !== undefined && typeof value !== 'string');
  const junk = fc.oneof(
    anyValue,
    wrongLevel.map((priority) => ({ payload: 1, priority })),
  );
  await fc.assert(
    fc.asyncProperty(junk, fc.nat({ max: 3 }), async (wrong, index) => {
      const contract = newContract();
      const items: unknown[] = [{ payload: 1 }, { payload: 2 }, { payload: 3 }];
      items.splice(index, 0, wrong);
      const answer = await answerOf(() => callMany(prisma, contract, items));
      const { error } = answer as { error: { code: string } };
      expect(error.code === 'INVALID_PAYLOAD' || namesField(error, /./)).toBe(true);
      expect(await count(contract.type)).toBe(0);
    }),
    { numRuns: ITEM_RUNS },
  );
});

test('items that are no list, too many, or too much', async () => {
  const contract = newContract();
  for (const items of [
    undefined,
    null,
    'text',
    { length: 1, 0: { payload: 1 } },
    new Set([1]),
    untouchable,
  ]) {
    const answer = await answerOf(() => callMany(prisma, contract, items));
    expect(namesField((answer as { error: unknown }).error, /^items$/)).toBe(true);
  }
  const sparse = await answerOf(() =>
    callMany(prisma, contract, Object.assign(Array(3), { 0: { payload: 1 }, 2: { payload: 2 } })),
  );
  expect(namesField((sparse as { error: unknown }).error, /^items\[1\]$/)).toBe(true);
  const many = await answerOf(() => callMany(prisma, contract, Array.from({ length: 10_001 })));
  expect(namesField((many as { error: unknown }).error, /^items\.length$/)).toBe(true);
  const item = { payload: 'x'.repeat(256 * 1024 - 2) };
  const much = await answerOf(() =>
    callMany(
      prisma,
      contract,
      Array.from({ length: 257 }, () => item),
    ),
  );
  expect(namesField((much as { error: unknown }).error, /^items$/)).toBe(true);
  expect(await count(contract.type)).toBe(0);
});
