import { describe, expect, test } from 'vitest';
import { describeThrown } from '../../src/core/thrown.ts';

class PaymentError extends Error {
  override readonly name = 'PaymentError';
}

const hostile = (): never => {
  throw new Error('from a getter');
};

const untouchable = new Proxy(
  {},
  {
    get: hostile,
    has: hostile,
    ownKeys: hostile,
    getPrototypeOf: hostile,
    getOwnPropertyDescriptor: hostile,
  },
);

describe('describeThrown', () => {
  test.each<[string, unknown, string]>([
    ['an error', new Error('no luck'), 'no luck'],
    ['a named error', new PaymentError('declined'), 'PaymentError: declined'],
    ['an error without a message', new Error(), ''],
    ['something like an error', { name: 'Odd', message: 'thing' }, 'Odd: thing'],
    ['text', 'just text', 'thrown: just text'],
    ['null', null, 'thrown: null'],
    ['undefined', undefined, 'thrown: undefined'],
    ['a number', 42, 'thrown: 42'],
    ['a BigInt', 42n, 'thrown: 42'],
    ['a symbol', Symbol('s'), 'thrown: Symbol(s)'],
    ['an object', { code: 7 }, 'thrown: {"code":7}'],
    ['an object that JSON cannot spell', { n: 1n }, 'thrown: a value that cannot be read'],
    ['an object without a prototype', Object.create(null), 'thrown: {}'],
    ['a message that is no text', { message: { deep: true } }, 'thrown: {"message":{"deep":true}}'],
    ['an object that nothing can be read of', untouchable, 'thrown: a value that cannot be read'],
  ])('%s', (_, value, message) => {
    expect(describeThrown(value).message).toBe(message);
  });

  test('keeps the stack of what has one', () => {
    const error = new Error('no luck');
    expect(describeThrown(error).stack).toBe(error.stack);
    expect(describeThrown('text').stack).toBeNull();
    expect(describeThrown({ message: 'm', stack: 7 }).stack).toBeNull();
  });

  test('passes by getters that throw', () => {
    const error = new Error('no luck');
    Object.defineProperty(error, 'stack', { get: hostile });
    Object.defineProperty(error, 'name', { get: hostile });
    expect(describeThrown(error)).toEqual({ message: 'no luck', stack: null });
  });

  test('is storable and bounded', () => {
    const error = new Error(`\0\ud83d${'x'.repeat(100_000)}`);
    error.stack = `\0${'y'.repeat(100_000)}`;
    const { message, stack } = describeThrown(error);
    expect(message).toHaveLength(2_000);
    expect(message.startsWith('\ufffd\ufffdx')).toBe(true);
    expect(stack).toHaveLength(8_000);
    expect(stack?.startsWith('\ufffdy')).toBe(true);
  });
});
