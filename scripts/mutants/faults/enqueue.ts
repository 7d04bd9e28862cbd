/** Enqueue: in the caller's transaction, one unfinished job a key, payloads checked once and kept as given. */
import type { Fault } from '../fault.ts';

const enqueue = 'packages/queue/src/enqueue.ts';
const insert = 'packages/queue/src/store/insert.ts';
const execute = 'packages/queue/src/execute.ts';
const predicate = `WHERE (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])))`;
const dedupeTest = ['packages/queue/test/dedupe.test.ts'];
const payloadTest = ['packages/queue/test/enqueue-payload.test.ts'];
const enqueueTest = ['packages/queue/test/enqueue.test.ts'];
const executeTest = ['packages/queue/test/execute.test.ts'];

export const enqueueFaults: readonly Fault[] = [
  {
    name: 'enqueue/dedupe-for-ever',
    breaks: 'a key is free again when its job has finished',
    file: 'db/prisma/migrations/20261130000000_job_queue/migration.sql',
    replace: `\n  ${predicate}`,
    by: '',
    tests: dedupeTest,
    only: 'the key is free again',
  },
  {
    name: 'enqueue/conflict-raised',
    breaks: 'a duplicate is an outcome and no error',
    file: insert,
    replace: `ON CONFLICT ("type", "dedupeKey")\n      ${predicate}\n      DO NOTHING`,
    by: '',
    tests: dedupeTest,
    only: 'twenty enqueues at once',
  },
  {
    name: 'enqueue/keys-in-any-order',
    breaks: 'batches with the same keys do not deadlock',
    file: insert,
    replace: 'ORDER BY job."dedupeKey", job."id"',
    by: '',
    tests: dedupeTest,
    only: 'opposite orders',
  },
  {
    name: 'enqueue/finished-duplicate',
    breaks: 'a duplicate is of an unfinished job',
    file: 'packages/queue/src/store/find-duplicates.ts',
    replace: `AND (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])))`,
    by: '',
    tests: dedupeTest,
    only: 'none of those that had the key',
  },
  {
    name: 'enqueue/one-try',
    breaks: 'an enqueue tries again when the key’s job has just finished',
    file: enqueue,
    replace: 'const TRIES = 5;',
    by: 'const TRIES = 1;',
    tests: dedupeTest,
    only: 'comes and goes',
  },
  {
    name: 'enqueue/delay-by-the-own-clock',
    breaks: 'a delay counts from the database’s now',
    file: insert,
    replace: `now() + job."delayMs" * interval '1 millisecond'`,
    by: `\${new Date(2_000_000_000_000).toISOString()}::timestamptz + job."delayMs" * interval '1 millisecond'`,
    tests: enqueueTest,
    only: 'after a delay',
  },
  {
    name: 'enqueue/instant-to-the-second',
    breaks: 'an instant is kept to the millisecond',
    file: insert,
    replace: 'to_timestamp(job."runAtMs" / 1000.0)',
    by: 'to_timestamp(floor(job."runAtMs" / 1000.0))',
    tests: enqueueTest,
    only: 'at the instant',
  },
  {
    name: 'enqueue/limits-of-the-table',
    breaks: 'a job has the limits of its contract',
    file: insert,
    replace: `\${maxCrashes}::int\n`,
    by: '3::int\n',
    tests: enqueueTest,
    only: 'limits and the defaults',
  },
  {
    name: 'enqueue/payload-unchecked',
    breaks: 'a payload is checked at enqueue',
    file: enqueue,
    replace: 'await parsePayload(contract, JSON.parse(encoded.json));',
    by: '',
    tests: payloadTest,
    only: 'do not fit the schema',
  },
  {
    name: 'enqueue/payload-checked-before-json',
    breaks: 'a payload is checked as the worker will get it',
    file: enqueue,
    replace: 'await parsePayload(contract, JSON.parse(encoded.json));',
    by: 'await parsePayload(contract, item.payload);',
    tests: payloadTest,
    only: 'a Date is text by then',
  },
  {
    name: 'enqueue/payload-stored-as-parsed',
    breaks: 'a payload is stored as given',
    file: enqueue,
    replace:
      'await parsePayload(contract, JSON.parse(encoded.json));\n  return { id: uuidV7(), payload: encoded.json',
    by: 'const parsed = await parsePayload(contract, JSON.parse(encoded.json));\n  return { id: uuidV7(), payload: JSON.stringify(parsed)',
    tests: payloadTest,
    only: 'stored as given',
  },
  {
    name: 'enqueue/payload-of-any-size',
    breaks: 'a payload has at most 256 KiB',
    file: 'packages/queue/src/core/limits.ts',
    replace: 'MAX_PAYLOAD_BYTES = 256 * 1024',
    by: 'MAX_PAYLOAD_BYTES = 512 * 1024',
    tests: payloadTest,
    only: '256 KiB',
  },
  {
    name: 'enqueue/nul-let-through',
    breaks: 'what jsonb cannot hold is refused',
    file: 'packages/queue/src/core/json-loss.ts',
    replace: `if (text.includes('\\0')) return 'holds a NUL`,
    by: `if (text === '\\0\\0') return 'holds a NUL`,
    tests: ['packages/queue/test/core/json-payload.test.ts'],
    only: 'refuses, and says where',
  },
  {
    name: 'run/payload-not-parsed',
    breaks: 'the worker parses the payload',
    file: execute,
    replace: 'await parsePayload(this.#handler.contract, this.job.payload)',
    by: 'this.job.payload',
    tests: executeTest,
    only: 'gets its payload',
  },
  {
    name: 'run/payload-parsed-twice',
    breaks: 'the worker parses the payload once',
    file: execute,
    replace: 'await parsePayload(this.#handler.contract, this.job.payload)',
    by: 'await parsePayload(handler.contract, await parsePayload(this.#handler.contract, this.job.payload))',
    tests: executeTest,
    only: 'parsed once',
  },
];
