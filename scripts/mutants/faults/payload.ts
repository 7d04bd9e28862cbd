/** Payloads: checked once at each end, as they are stored, and kept as given. */
import type { Fault } from '../fault.ts';

const enqueue = 'packages/queue/src/enqueue.ts';
const execute = 'packages/queue/src/execute.ts';
const payloadTest = ['packages/queue/test/enqueue-payload.test.ts'];
const executeTest = ['packages/queue/test/execute.test.ts'];

export const payloadFaults: readonly Fault[] = [
  {
    name: 'enqueue/payload-unchecked',
    breaks: 'a payload is checked at enqueue',
    file: enqueue,
    replace: 'parsePayload(contract, JSON.parse(encoded.json))',
    by: 'undefined as unknown',
    tests: payloadTest,
    only: 'do not fit the schema',
  },
  {
    name: 'enqueue/payload-checked-before-json',
    breaks: 'a payload is checked as the worker will get it',
    file: enqueue,
    replace: 'parsePayload(contract, JSON.parse(encoded.json))',
    by: 'parsePayload(contract, item.payload)',
    tests: payloadTest,
    only: 'a Date is text by then',
  },
  {
    name: 'enqueue/payload-stored-as-parsed',
    breaks: 'a payload is stored as given',
    file: enqueue,
    replace: 'return { id: newId(), payload: encoded.json',
    by: 'return { id: newId(), payload: JSON.stringify(parsed)',
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
    by: 'await parsePayload(this.#handler.contract, await parsePayload(this.#handler.contract, this.job.payload))',
    tests: executeTest,
    only: 'parsed once',
  },
];
