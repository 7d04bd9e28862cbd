/** Values to throw at every entry: what fast-check makes of anything, and what no generator would think of. */
import fc from 'fast-check';
import { FencepostError, InvalidOptionError } from '../../src/index.ts';

const trap = () => {
  throw new Error('trapped');
};

/** Throws at every look at it, `instanceof` included. */
export const untouchable = new Proxy(
  {},
  { get: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap },
);

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
}

const cyclic: Record<string, unknown> = {};
cyclic['self'] = [cyclic];

const ODD: readonly unknown[] = [
  cyclic,
  Object.create(Date.prototype),
  Object.assign(new Date(0), { getTime: () => '7' }),
  new Date(Number.NaN),
  Symbol('s'),
  10n ** 400n,
  () => 'called',
  Object.create(null),
  Object(Symbol('s')),
  Object(Number.NaN),
  new Error('x', { cause: untouchable }),
  Object.defineProperty(new Error('x'), 'message', { get: trap }),
  Object.defineProperty(new Error('x'), 'extra', { get: trap, enumerable: true }),
  { toJSON: trap },
  { toJSON: () => undefined },
  { toJSON: () => '\0' },
  { toJSON: () => 1n },
  // eslint-disable-next-line unicorn/no-thenable -- what handlers return may be one.
  Object.defineProperty({}, 'then', { get: trap }),
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  ['\0', '\ud800', 'x\udfff', '\u2028'],
  Object.assign(Array(2), { 1: 1 }),
  '٣',
  '1e1',
  ' 5s ',
  '5S',
  '-1s',
  '0x10',
  '9007199254740993',
  -0,
  Number.MAX_SAFE_INTEGER + 2,
  2 ** 31,
];

/** fast-check could not print these where a test fails. */
const UNPRINTABLE: readonly unknown[] = [
  untouchable,
  { [Symbol.toPrimitive]: trap, toString: trap, valueOf: trap },
  Object.defineProperty({}, Symbol.toStringTag, { get: trap }),
  {
    get now() {
      throw untouchable;
    },
  },
];

export const HOSTILE: readonly unknown[] = [...ODD, ...UNPRINTABLE];

export const anyValue = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  {
    weight: 3,
    arbitrary: fc.anything({
      maxDepth: 3,
      stringUnit: 'binary',
      ...{ withBigInt: true, withBoxedValues: true, withDate: true, withMap: true, withSet: true },
      ...{ withNullPrototype: true, withSparseArray: true, withTypedArray: true, withObjectString: true },
    }),
  },
);

export type Answer<T> = { readonly value: T } | { readonly error: unknown };

/** What came of a call, whether it throws or rejects. */
export async function answerOf<T>(call: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
}

/** The error is one of ours, says something, and has a code. */
export function isTyped(error: unknown): error is FencepostError {
  return error instanceof FencepostError && /^[A-Z_]+$/.test(error.code) && error.message.length > 10;
}

/** And names the option, what was found and what is allowed, in no more than a few lines. */
export function namesField(error: unknown, field: RegExp): boolean {
  return (
    error instanceof InvalidOptionError &&
    isTyped(error) &&
    field.test(error.field) &&
    /: expected .+, found .+/s.test(error.message) &&
    error.message.length < 1_000
  );
}
