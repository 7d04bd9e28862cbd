import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, enqueue, enqueueMany, findJob, InvalidPayloadError } from '../src/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, newContract } from './fixtures/jobs.ts';

const { prisma } = await openDatabase();

const count = (type: string) => prisma.jobQueue.count({ where: { type } });

describe('payloads', () => {
  const kept: [string, unknown][] = [
    ['null', null],
    ['false', false],
    ['a number', -1.5e300],
    ['text like a date', '2026-01-01T00:00:00.000Z'],
    ['text like an array of Postgres', '{"a",NULL}'],
    ['quotes and backslashes', '\\ " \' \\" {} \\u0000'],
    ['emoji', '👩‍🚀🇯🇵 e\u0301'],
    ['control characters', '\u0001\t\n\u2028'],
    ['deep nesting', JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)],
    ['odd keys', JSON.parse('{"":1,"__proto__":2,"constructor":3,"💥":4,"a.b":5}')],
    ['100 KB of text', 'é'.repeat(50_000)],
  ];

  test('come back as they were given, to a reader and to the worker', async () => {
    const contract = newContract();
    const outcomes = await enqueueMany(
      prisma,
      contract,
      kept.map(([, payload]) => ({ payload })),
    );
    const read = await Promise.all(outcomes.map(async ({ id }) => (await findJob(prisma, id))?.payload));
    expect(kept.map(([name], index) => [name, read[index]])).toEqual(kept);
    const claimed = new Map((await claimOf(prisma, contract)).map((job) => [job.id, job.payload]));
    expect(kept.map(([name], index) => [name, claimed.get(outcomes[index]?.id ?? '')])).toEqual(kept);
  });

  test.each<[string, unknown]>([
    ['NUL', { a: '\0' }],
    ['a lone surrogate', { a: '\ud83d' }],
    ['BigInt', { a: 1n }],
    ['undefined', undefined],
    ['NaN', Number.NaN],
  ])('with %s are refused', async (_, payload) => {
    const contract = newContract();
    await expect(enqueue(prisma, contract, payload)).rejects.toThrow(InvalidPayloadError);
    expect(await count(contract.type)).toBe(0);
  });

  test('that are cyclic are refused', async () => {
    const payload: Record<string, unknown> = {};
    payload['self'] = payload;
    await expect(enqueue(prisma, newContract(), payload)).rejects.toThrow('is cyclic');
  });

  test('may have 256 KiB of JSON and not a byte more', async () => {
    const contract = newContract();
    const fits = 'x'.repeat(256 * 1024 - 2);
    const { id } = await enqueue(prisma, contract, fits);
    expect((await findJob(prisma, id))?.payload).toBe(fits);
    await expect(enqueue(prisma, contract, `${fits}x`)).rejects.toThrow(
      'is 262145 bytes of JSON, at most 262144',
    );
    expect(await count(contract.type)).toBe(1);
  });

  test('that do not fit the schema are refused with every issue and its path', async () => {
    const contract = defineJob({
      type: 'test.enqueue.schema',
      payload: z.object({ users: z.array(z.object({ name: z.string() })), n: z.number() }),
    });
    // @ts-expect-error -- wrong on purpose.
    const wrong = enqueue(prisma, contract, { users: [{ name: 'a' }, { name: 7 }], n: '1' });
    await expect(wrong).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      type: contract.type,
      issues: [{ path: 'users[1].name' }, { path: 'n' }],
    });
    expect(await count(contract.type)).toBe(0);
  });

  test.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('no database to look it up in');
      },
    ],
    ['answers with nothing', () => undefined as never],
    ['answers with neither value nor issues', () => ({}) as never],
    ['names no issue', () => ({ issues: [null] }) as never],
  ])('are nobody’s fault where the schema %s', async (_, validate) => {
    const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
    const contract = defineJob({ type: 'test.enqueue.broken', payload: schema });
    await expect(enqueue(prisma, contract, 1)).rejects.toMatchObject({
      code: 'SCHEMA_FAILED',
      type: contract.type,
    });
    expect(await count(contract.type)).toBe(0);
  });

  test('are stored as given, not as the schema makes them', async () => {
    const contract = defineJob({
      type: 'test.enqueue.given',
      payload: z.object({ n: z.string().transform(Number), more: z.string().default('made up') }),
    });
    const { id } = await enqueue(prisma, contract, { n: '7' });
    expect((await findJob(prisma, id))?.payload).toEqual({ n: '7' });
  });

  test('are checked as the worker will get them: a Date is text by then', async () => {
    const contract = defineJob({ type: 'test.enqueue.date', payload: z.object({ at: z.date() }) });
    await expect(enqueue(prisma, contract, { at: new Date() })).rejects.toThrow(InvalidPayloadError);
  });
});
