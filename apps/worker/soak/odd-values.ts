/** What handlers throw that no handler should: nothing, text, values that cannot be stored, values that cannot be read. */

export const ODD_VALUES: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => 'a string',
  () => Number.NaN,
  () => Symbol('a symbol'),
  () => 12n,
  () => () => 'a function',
  () => new Error('with a NUL: \u0000, and half of a pair: \ud800'),
  () => new Error('x'.repeat(100_000)),
  () => new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse }),
  () => Object.defineProperty(new Error('hidden'), 'message', { get: refuse }),
  () => ({ toString: refuse, toJSON: refuse }),
  () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    return loop;
  },
];

function refuse(): never {
  throw new Error('this value cannot be read');
}
