import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  defineJob,
  enqueue,
  handle,
  InvalidOptionError,
  type JobHandler,
  type QueueClient,
} from '../src/index.ts';

const payload = z.object({ userId: z.string(), at: z.coerce.date() });
const minimal = { type: 'email.welcome', payload };

describe('defineJob', () => {
  test('has a default for everything but type and payload', () => {
    expect(defineJob(minimal)).toEqual({
      type: 'email.welcome',
      payload,
      leaseMs: 30_000,
      timeoutMs: 600_000,
      maxAttempts: 25,
      maxCrashes: 3,
      retry: { baseMs: 2_000, maxMs: 21_600_000 },
    });
  });

  test('reads durations', () => {
    const contract = defineJob({
      ...minimal,
      lease: '1m',
      timeout: 1_500,
      maxAttempts: 1,
      maxCrashes: 1_000,
      retry: { base: '1ms', max: '7d' },
    });
    expect(contract).toMatchObject({
      leaseMs: 60_000,
      timeoutMs: 1_500,
      maxAttempts: 1,
      maxCrashes: 1_000,
      retry: { baseMs: 1, maxMs: 604_800_000 },
    });
  });

  test('a base above the default ceiling lifts the ceiling', () => {
    expect(defineJob({ ...minimal, retry: { base: '12h' } }).retry).toEqual({
      baseMs: 43_200_000,
      maxMs: 43_200_000,
    });
  });

  test.each([
    ['type', { type: '' }],
    ['type', { type: 'a b' }],
    ['type', { type: 'a\n' }],
    ['type', { type: 'ä' }],
    ['type', { type: 'x'.repeat(201) }],
    ['type', { type: 7 }],
    ['payload', { payload: undefined }],
    ['payload', { payload: {} }],
    ['payload', { payload: { '~standard': { validate: true } } }],
    ['lease', { lease: '999ms' }],
    ['lease', { lease: '61m' }],
    ['lease', { lease: 'soon' }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: '8d' }],
    ['timeout', { timeout: null }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['maxAttempts', { maxAttempts: 1_001 }],
    ['maxAttempts', { maxAttempts: 1.5 }],
    ['maxAttempts', { maxAttempts: '3' }],
    ['maxCrashes', { maxCrashes: 0 }],
    ['retry.base', { retry: { base: 0 } }],
    ['retry.base', { retry: { base: '25h' } }],
    ['retry.max', { retry: { max: '8d' } }],
    ['retry.max', { retry: { base: '10s', max: '9s' } }],
    ['retry', { retry: 'often' }],
    ['retry.maximum', { retry: { maximum: '9s' } }],
    ['definition.maxattempts', { maxattempts: 3 }],
  ])('refuses %s in %j', (field, wrong) => {
    const define = () => defineJob({ ...minimal, ...(wrong as object) });
    expect(define).toThrow(InvalidOptionError);
    expect(define).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', field }));
  });

  test('says what was found and what is allowed', () => {
    expect(() => defineJob({ ...minimal, lease: '2h' })).toThrow(
      'lease: expected 1000 to 3600000 ms, found "2h"',
    );
  });
});

test('a handler gets what the schema makes of the payload, an enqueuer gives what it takes', () => {
  const contract = defineJob(minimal);
  const handler = handle(contract, async (input, context) => {
    expectTypeOf(input).toEqualTypeOf<{ userId: string; at: Date }>();
    expectTypeOf(context.attempt).toEqualTypeOf<number>();
  });
  expectTypeOf([handler]).toExtend<readonly JobHandler[]>();
  const give = (client: QueueClient) => enqueue(client, contract, { userId: 'u', at: '2026-01-01' });
  // @ts-expect-error -- userId is text.
  const giveWrong = (client: QueueClient) => enqueue(client, contract, { userId: 7, at: '2026-01-01' });
  expect([give, giveWrong]).toHaveLength(2);
});
