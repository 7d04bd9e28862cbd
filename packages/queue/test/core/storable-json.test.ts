import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storableJson, storableText } from '../../src/core/json.ts';

const read = (value: unknown, maxBytes = 10_000): unknown => {
  const json = storableJson(value, maxBytes);
  return json === null ? undefined : JSON.parse(json);
};

describe('storableJson', () => {
  test.each([null, 0, 'text', [1], { a: { b: '👩‍🚀' } }, { text: '\\u0000 \n "' }])('keeps %j', (value) => {
    expect(read(value)).toEqual(value);
  });

  test.each([undefined, () => 1, Symbol('s')])('has nothing to keep of %s', (value) => {
    expect(storableJson(value, 100)).toBeNull();
  });

  test('replaces what jsonb refuses, in keys and values, wherever it came from', () => {
    expect(read({ 'k\0': 'a\0b', deep: [{ '\ud800': 'x\udfff' }], fine: '👩‍🚀' })).toEqual({
      'k\ufffd': 'a\ufffdb',
      deep: [{ '\ufffd': 'x\ufffd' }],
      fine: '👩‍🚀',
    });
    expect(read({ boxed: Object('a\0') as unknown, made: { toJSON: () => '\ud83d' } })).toEqual({
      boxed: 'a\ufffd',
      made: '\ufffd',
    });
  });

  test('spells a BigInt as text', () => {
    expect(read({ n: 2n ** 64n })).toEqual({ n: '18446744073709551616' });
  });

  test('cuts cycles, and keeps what merely stands there twice', () => {
    const shared = { n: 1 };
    const value: Record<string, unknown> = { first: shared, second: [shared, shared] };
    value['self'] = value;
    value['k\0'] = { value };
    expect(read(value)).toEqual({
      first: { n: 1 },
      second: [{ n: 1 }, { n: 1 }],
      self: '[circular]',
      'k\ufffd': { value: '[circular]' },
    });
  });

  test.each<[string, unknown, string]>([
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no\0');
        },
      },
      'could not be read: no\ufffd',
    ],
    [
      'a toJSON that throws no error',
      {
        toJSON() {
          // eslint-disable-next-line typescript/only-throw-error -- handlers do.
          throw 'text';
        },
      },
      'could not be read: something was thrown',
    ],
    ['endless nesting', { toJSON: endless }, 'is nested too deeply for JSON'],
  ])('says so of %s', (_, value, unstorable) => {
    expect(read(value)).toEqual({ unstorable });
  });

  test('says so of what throws that which cannot be looked at', () => {
    const thrown = new Proxy(new Error('x'), {
      getPrototypeOf: () => {
        throw new Error('no');
      },
    });
    const value = {
      toJSON() {
        throw thrown;
      },
    };
    expect(read(value)).toEqual({ unstorable: 'could not be read: something was thrown' });
  });

  test('says how much it was when it is too much', () => {
    expect(read([1e308], 100)).toEqual({ truncated: true, bytes: 311 });
    expect(read('x'.repeat(98), 100)).toBe('x'.repeat(98));
    expect(read('x'.repeat(99), 100)).toEqual({ truncated: true, bytes: 101 });
    expect(read('\0'.repeat(40), 100)).toEqual({ truncated: true, bytes: 122 });
  });

  test('never makes JSON that jsonb refuses', () => {
    const everything = fc.anything({
      stringUnit: 'binary',
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
    });
    const isStorable = fc.property(everything, (value) => {
      const json = storableJson(value, 1_000_000);
      return json === null || !/(^|[^\\])(\\\\)*\\u(0000|d[89a-f]..)/.test(json);
    });
    expect(fc.check(isStorable).counterexample).toBeNull();
  });
});

describe('storableText', () => {
  test('replaces NUL and lone surrogates', () => {
    expect(storableText('a\0b\ud83dc👩‍🚀', 100)).toBe('a\ufffdb\ufffdc👩‍🚀');
  });

  test('cuts to its length, and leaves no half of a pair behind', () => {
    expect(storableText('abcdef', 6)).toBe('abcdef');
    expect(storableText('abcdefg', 6)).toBe('abcde…');
    const cut = storableText(`abcd👩${'x'.repeat(9)}`, 6);
    expect(cut).toBe('abcd\ufffd…');
    expect(cut.isWellFormed()).toBe(true);
  });
});

function endless(): unknown {
  return { next: { toJSON: endless } };
}
