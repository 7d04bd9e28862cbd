/** Contracts whose schema is slow, broken, or answers with what nobody promised. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineJob,
  enqueue,
  enqueueMany,
  findJob,
  handle,
  type InvalidPayloadError,
} from '../../src/index.ts';
import { runDueJobs } from '../../src/testing/index.ts';
import { openDatabase } from '../fixtures/database.ts';
import { answerOf, anyValue, HOSTILE, isTyped } from './hostile.ts';

const RUNS = 40;

const { prisma } = await openDatabase();

type Validate = StandardSchemaV1['~standard']['validate'];

let made = 0;
function contractOf(validate: Validate) {
  const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
  return defineJob({ type: `fuzz.schema.${++made}`, payload: schema, maxAttempts: 1 });
}

/** Whatever the schema does: a typed error and no row, or a job. */
async function enqueueWith(validate: Validate): Promise<string> {
  const contract = contractOf(validate);
  const answer = await answerOf(() => enqueue(prisma, contract, { n: 1 }));
  const rows = await prisma.jobQueue.count({ where: { type: contract.type } });
  if ('value' in answer) {
    expect(rows).toBe(1);
    return answer.value.outcome;
  }
  expect(rows).toBe(0);
  expect(isTyped(answer.error)).toBe(true);
  const { code, message } = answer.error as InvalidPayloadError;
  expect(message).toContain(contract.type);
  expect(message.length).toBeLessThan(20_000);
  return code;
}

test('whatever it answers', { timeout: 60_000 }, async () => {
  const result = fc.oneof(
    anyValue,
    fc.record({ issues: anyValue, value: anyValue }, { requiredKeys: [] }),
    fc
      .array(fc.record({ message: anyValue, path: anyValue }, { requiredKeys: [] }))
      .map((issues) => ({ issues })),
  );
  await fc.assert(
    fc.asyncProperty(result, fc.boolean(), async (answer, isLater) => {
      const validate = () => (isLater ? Promise.resolve(answer) : answer);
      const outcome = await enqueueWith(validate as Validate);
      expect(['created', 'INVALID_PAYLOAD', 'SCHEMA_FAILED']).toContain(outcome);
    }),
    { numRuns: RUNS },
  );
});

test('whatever it throws, at once or later', async () => {
  for (const thrown of HOSTILE) {
    const atOnce = await enqueueWith(() => {
      throw thrown;
    });
    const later = await enqueueWith(() => Promise.reject(thrown));
    expect([atOnce, later]).toEqual(['SCHEMA_FAILED', 'SCHEMA_FAILED']);
  }
});

test('a schema that takes its time is waited for, and the list is as it was when it was given', async () => {
  const contract = contractOf(async (value) => {
    await new Promise(setImmediate);
    return { value };
  });
  const items = [{ payload: 1 }, { payload: 2 }];
  const enqueuing = enqueueMany(prisma, contract, items);
  items.push({ payload: 3 });
  items[1] = { payload: 1n as never };
  expect(await enqueuing).toHaveLength(2);
});

test('one that names an issue for every item is cut short', async () => {
  const contract = defineJob({ type: 'fuzz.schema.many', payload: z.array(z.string()) });
  const wrong = Array.from({ length: 50_000 }, () => 1) as unknown as string[];
  const answer = await answerOf(() => enqueue(prisma, contract, wrong));
  expect((answer as { error: InvalidPayloadError }).error.issues).toHaveLength(20);
});

test('one that transforms stores what was given, and hands over what it makes', async () => {
  const contract = defineJob({
    type: 'fuzz.schema.transform',
    payload: z.object({ at: z.coerce.date(), n: z.string().transform(Number) }),
  });
  const { id } = await enqueue(prisma, contract, { at: '2026-01-01', n: '7' });
  const got: unknown[] = [];
  await runDueJobs(prisma, [handle(contract, async (payload) => void got.push(payload))]);
  expect(got).toEqual([{ at: new Date('2026-01-01'), n: 7 }]);
  expect((await findJob(prisma, id))?.payload).toEqual({ at: '2026-01-01', n: '7' });
});

test('one that breaks between enqueue and run fails the attempt, and says where', async () => {
  let isBroken = false;
  const contract = contractOf((value) => {
    if (isBroken) throw new Error('broken meanwhile');
    return { value };
  });
  const { id } = await enqueue(prisma, contract, 1);
  isBroken = true;
  await runDueJobs(prisma, [handle(contract, async () => {})]);
  expect(await findJob(prisma, id)).toMatchObject({
    state: 'dead',
    errors: [
      {
        kind: 'failed',
        message: expect.stringContaining('broken meanwhile'),
        stack: expect.stringContaining('schemas.test'),
      },
    ],
  });
});
