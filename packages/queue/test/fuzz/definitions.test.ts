/** defineJob and handle: a contract within its bounds, or an error that names the field. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, handle, type JobContract } from '../../src/index.ts';
import { newContract } from '../fixtures/jobs.ts';
import { answerOf, anyValue, HOSTILE, namesField, revoked } from './hostile.ts';

const RUNS = 500;

const payload = z.unknown();
const define = defineJob as (definition: unknown) => JobContract;
const FIELDS = /^(type|payload|lease|timeout|maxAttempts|maxCrashes|retry|retry\.base|retry\.max)$/;

/** Half of them within any bounds, or next to no definition as a whole would be taken. */
const duration = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('5s', '1m', 60_000) },
  fc
    .tuple(fc.integer({ min: -1, max: 10_000 }), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'y', ''))
    .map((parts) => parts.join('')),
  fc.integer({ min: -1, max: 700_000_000 }),
  anyValue,
);
const times = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -1, max: 1_002 }) }, anyValue);
const definition = fc.record(
  {
    type: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('a', '__proto__', 'a.b-c_1', 'x'.repeat(200)) },
      anyValue,
    ),
    payload: fc.oneof({ weight: 4, arbitrary: fc.constant(payload) }, anyValue),
    lease: duration,
    timeout: duration,
    maxAttempts: times,
    maxCrashes: times,
    retry: fc.oneof(fc.record({ base: duration, max: duration }, { requiredKeys: [] }), anyValue),
  },
  { requiredKeys: ['type', 'payload'] },
);

test('any definition', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(definition, async (given) => {
      const answer = await answerOf(() => define(given));
      if ('error' in answer) {
        // Unknown keys of `retry` are named as well.
        expect(namesField(answer.error, /./)).toBe(true);
        return;
      }
      taken += 1;
      const { type, leaseMs, timeoutMs, maxAttempts, maxCrashes, retry } = answer.value;
      expect(type).toMatch(/^[\w.-]{1,200}$/);
      const bounds: [number, number, number][] = [
        [leaseMs, 1_000, 3_600_000],
        [timeoutMs, 1, 604_800_000],
        [maxAttempts, 1, 1_000],
        [maxCrashes, 1, 1_000],
        [retry.baseMs, 1, 86_400_000],
        [retry.maxMs, retry.baseMs, 604_800_000],
      ];
      for (const [value, min, max] of bounds) {
        expect(Number.isInteger(value) && value >= min && value <= max).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
  expect(taken).toBeGreaterThan(RUNS / 50);
});

test('what is no definition', async () => {
  for (const junk of [...HOSTILE, revoked(), undefined, null, 'text', [], 7]) {
    const answer = await answerOf(() => define(junk));
    expect(namesField((answer as { error: unknown }).error, /./)).toBe(true);
  }
});

test.each([
  ['definition.maxattempts', { maxattempts: 3 }],
  ['retry.backoff', { retry: { backoff: '5s' } }],
  ['retry', { retry: 'often' }],
  ['retry', { retry: [1, 2] }],
])('a misspelled or misplaced %s is not passed over: %j', async (field, wrong) => {
  const answer = await answerOf(() => define({ type: 'fuzz', payload, ...wrong }));
  expect(namesField((answer as { error: unknown }).error, new RegExp(`^${field}$`))).toBe(true);
});

test.each(['type', 'payload', 'lease', 'timeout', 'maxAttempts', 'maxCrashes', 'retry'])(
  'every hostile value for %s names it',
  async (field) => {
    for (const value of HOSTILE) {
      const answer = await answerOf(() => define({ type: 'fuzz', payload, [field]: value }));
      expect('value' in answer || namesField(answer.error, field === 'retry' ? /./ : FIELDS)).toBe(true);
    }
  },
);

test('handle takes a contract and a function', async () => {
  const make = handle as (...args: unknown[]) => unknown;
  for (const junk of [...HOSTILE, undefined, null, 'text']) {
    const contract = await answerOf(() => make(junk, async () => {}));
    expect(namesField((contract as { error: unknown }).error, /^contract$/)).toBe(true);
    if (typeof junk === 'function') continue;
    const run = await answerOf(() => make(newContract(), junk));
    expect(namesField((run as { error: unknown }).error, /^run$/)).toBe(true);
  }
});
