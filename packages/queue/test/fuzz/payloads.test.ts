/** Any value as a payload: stored, and read back by a claim as JSON means it, or refused without a trace. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enqueue, InvalidPayloadError } from '../../src/index.ts';
import { openDatabase } from '../fixtures/database.ts';
import { claimOf, newContract, only } from '../fixtures/jobs.ts';
import { answerOf, anyValue, isTyped } from './hostile.ts';

const ANYTHING_RUNS = 80;
const JSON_RUNS = 30;

const { prisma } = await openDatabase();

/** What the worker gets; undefined where the payload was refused as it should be. */
async function roundTrip(payload: unknown): Promise<{ readonly claimed: unknown } | undefined> {
  const contract = newContract();
  const answer = await answerOf(() => enqueue(prisma, contract, payload));
  if ('value' in answer) return { claimed: only(await claimOf(prisma, contract)).payload };
  expect(answer.error).toBeInstanceOf(InvalidPayloadError);
  expect(isTyped(answer.error)).toBe(true);
  const { issues } = answer.error as InvalidPayloadError;
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.every(({ path, message }) => path !== '' && message !== '')).toBe(true);
  expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(0);
  return undefined;
}

test('anything is stored as JSON means it, or refused', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (payload) => {
      const kept = await roundTrip(payload);
      if (kept === undefined) return;
      expect(isDeepStrictEqual(kept.claimed, JSON.parse(JSON.stringify(payload)))).toBe(true);
    }),
    { numRuns: ANYTHING_RUNS },
  );
});

test('any JSON is taken', { timeout: 60_000 }, async () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('json'), { maxLength: 5 }),
      fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', '')), tie('json')),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      // By its text, so that a key "__proto__" is one.
      const payload: unknown = JSON.parse(JSON.stringify(value));
      expect(isDeepStrictEqual(await roundTrip(payload), { claimed: payload })).toBe(true);
    }),
    { numRuns: JSON_RUNS },
  );
});

const LIMIT = 256 * 1024;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** A payload of exactly so many bytes, of a unit whose spelling has several, with plain letters for the rest. */
function textOf(unit: string, bytes: number): string {
  const each = bytesOf(unit) - 2;
  const count = Math.floor((bytes - 2) / each);
  return unit.repeat(count) + 'x'.repeat(bytes - 2 - count * each);
}

test.each([
  ['one byte', 'x'],
  ['two bytes', 'é'],
  ['three bytes', '€'],
  ['four bytes', '🦀'],
  ['an escape', '\n'],
  ['a long escape', '\u0001'],
  ['quotes', '"'],
])('256 KiB in units of %s are taken, one byte more is not', async (_, unit) => {
  for (const make of [
    (text: string) => text,
    (text: string) => ({ [text.slice(8)]: 1 }),
    (text: string) => [text],
  ]) {
    const frame = bytesOf(make(textOf(unit, 1_000))) - 1_000;
    const fits = make(textOf(unit, LIMIT - frame));
    const tooLong = make(`${textOf(unit, LIMIT - frame)}x`);
    expect([bytesOf(fits), bytesOf(tooLong)]).toEqual([LIMIT, LIMIT + 1]);
    expect(await roundTrip(tooLong)).toBeUndefined();
    expect(isDeepStrictEqual(await roundTrip(fits), { claimed: fits })).toBe(true);
  }
});

/** So many levels, lists and objects in turn. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = level % 2 ? { a: value } : [value];
  return value;
}

test('a thousand levels are taken, one more is not', async () => {
  expect(await roundTrip(nested(1_000))).toEqual({ claimed: nested(1_000) });
  for (const levels of [1_001, 2_000, 100_000]) expect(await roundTrip(nested(levels))).toBeUndefined();
});

test('as many keys as fit are taken', async () => {
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n % 7]));
  expect(isDeepStrictEqual(await roundTrip(keys), { claimed: keys })).toBe(true);
});

test.each([1e308, -1.5e300, 5e-324, -2.5e-310])(
  'numbers like %d are taken by what Postgres makes of them',
  async (number) => {
    const fits = Array.from({ length: 700 }, () => number);
    expect(isDeepStrictEqual(await roundTrip(fits), { claimed: fits })).toBe(true);
    // Under 200 KB of JSON; some ten MB where they are read back.
    expect(await roundTrip(Array.from({ length: 20_000 }, () => number))).toBeUndefined();
  },
);
