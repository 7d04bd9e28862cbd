import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeJson } from '../../src/core/json.ts';

const MAX_BYTES = 1_000;

const problems = (value: unknown) => {
  const encoded = encodeJson(value, MAX_BYTES);
  return encoded.outcome === 'refused'
    ? encoded.problems.map(({ path, message }) => `${path} ${message}`)
    : [];
};

describe('encodeJson takes what JSON and jsonb can hold', () => {
  test.each([null, true, 0, -1.5, '', 'text', [], {}, [1, [2]], { a: { b: null } }])('%j', (value) => {
    expect(encodeJson(value, MAX_BYTES)).toEqual({ outcome: 'encoded', json: JSON.stringify(value) });
  });

  test.each([
    ['emoji', 'a 👩‍🚀 b'],
    ['escapes', 'a\\u0000 "b" \n\t\u0001 \\ud800'],
    ['a backslash before the letters of an escape', '\\\\u0000'],
  ])('%s', (_, text) => {
    expect(encodeJson({ [text]: text }, MAX_BYTES)).toEqual({
      outcome: 'encoded',
      json: JSON.stringify({ [text]: text }),
    });
  });

  test('a Date as the text that the worker will get', () => {
    expect(encodeJson({ at: new Date(0) }, MAX_BYTES)).toEqual({
      outcome: 'encoded',
      json: '{"at":"1970-01-01T00:00:00.000Z"}',
    });
  });

  test('a property that is undefined, by leaving it out', () => {
    expect(encodeJson({ a: undefined, b: 1 }, MAX_BYTES)).toEqual({ outcome: 'encoded', json: '{"b":1}' });
  });

  test('any JSON value, unchanged', () => {
    const isUnchanged = fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
      const text = JSON.stringify(value);
      const encoded = encodeJson(value, 1_000_000);
      return text.includes('\\u0000') || (encoded.outcome === 'encoded' && encoded.json === text);
    });
    expect(fc.check(isUnchanged).counterexample).toBeNull();
  });
});

describe('encodeJson refuses, and says where,', () => {
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'payload is undefined'],
    ['a function', () => 1, 'payload is a function, which JSON cannot hold'],
    ['NUL', { user: { name: 'a\0b' } }, 'user.name holds a NUL character, which Postgres cannot store'],
    ['half a surrogate pair', ['ok', 'a\ud83d'], '[1] holds a lone surrogate, which Postgres cannot store'],
    ['NUL in a key', { a: { 'k\0': 1 } }, 'a.k\0 its key holds a NUL character, which Postgres cannot store'],
    [
      'half a pair in a key',
      { '\udc00': 1 },
      '\udc00 its key holds a lone surrogate, which Postgres cannot store',
    ],
    ['a BigInt', { a: [{ b: 1n }] }, 'a[0].b is a BigInt, which JSON cannot hold'],
    ['NaN', [Number.NaN], '[0] is NaN, which JSON cannot hold'],
    ['infinity', { a: -Infinity }, 'a is -Infinity, which JSON cannot hold'],
    ['undefined in a list', [1, undefined], '[1] is undefined, which JSON would turn into null'],
    ['a symbol', { a: Symbol('s') }, 'a is a symbol, which JSON cannot hold'],
    ['a method', { a() {} }, 'a is a function, which JSON cannot hold'],
    ['a Map', { a: new Map([[1, 2]]) }, 'a is a Map, which JSON would lose'],
    ['a Set', new Set([1]), 'payload is a Set, which JSON would lose'],
    ['bytes', { a: new Uint8Array(3) }, 'a is a Uint8Array, which JSON would lose'],
    ['an Error', { cause: new TypeError('x') }, 'cause is a TypeError, which JSON would lose'],
    ['an invalid Date', { at: [new Date(Number.NaN)] }, 'at[0] is an invalid Date'],
    ['boxed NaN', { a: Object(Number.NaN) as unknown }, 'a is NaN, which JSON cannot hold'],
    ['a boxed symbol', { a: Object(Symbol('s')) as unknown }, 'a is a Symbol, which JSON would lose'],
    ['a WeakMap', { a: new WeakMap() }, 'a is a WeakMap, which JSON would lose'],
    [
      'what a query is made of',
      { a: new URLSearchParams('b=1') },
      'a is a URLSearchParams, which JSON would lose',
    ],
    ['bytes under no name', { '': new Uint8Array(1) }, '[""] is a Uint8Array, which JSON would lose'],
    ['boxed text with NUL', { a: Object('\0') as unknown }, 'payload holds text that Postgres cannot store'],
    [
      'a toJSON that makes NUL',
      { toJSON: () => '\0' },
      'payload holds a NUL character, which Postgres cannot store',
    ],
    [
      'a toJSON that throws',
      {
        toJSON() {
          throw new Error('not me');
        },
      },
      'payload could not be read: not me',
    ],
  ])('%s', (_, value, problem) => {
    expect(problems(value)).toEqual([problem]);
  });

  test('a cycle', () => {
    const value: Record<string, unknown> = {};
    value['self'] = { value };
    expect(problems(value)).toEqual(['payload is cyclic, which JSON cannot hold']);
  });

  test('a value that is nested deeper than JSON.stringify goes', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(problems(value)).toEqual(['payload is nested too deeply for JSON']);
  });

  test('numbers whose zeros Postgres writes out, by what that comes to', () => {
    expect(problems([1e308])).toEqual([]);
    // 309 characters each, as 5e-324 has 326.
    expect(problems([1e308, -1e308, 1e308, 1e308])).toEqual([
      'payload is 1242 bytes of JSON, at most 1000 are allowed',
    ]);
    expect(problems([5e-324, 5e-324, 5e-324, 1.5e-7])).toEqual([]);
    expect(problems([5e-324, 5e-324, 5e-324, 1.5e-7, 1234567890])).toEqual([
      'payload is 1004 bytes of JSON, at most 1000 are allowed',
    ]);
  });

  test('a thousand levels and one, whatever the stack would take', () => {
    const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(encodeJson(nested(1_000), 10_000).outcome).toBe('encoded');
    expect(encodeJson(nested(1_001), 10_000).outcome).toBe('refused');
  });

  test('several at once, but no more than ten', () => {
    expect(problems({ a: 1n, b: ['\0', 2n] })).toHaveLength(3);
    expect(problems(Array.from({ length: 50 }, () => 1n))).toHaveLength(10);
  });

  test('one byte too many, counted in UTF-8', () => {
    expect(encodeJson('x'.repeat(MAX_BYTES - 2), MAX_BYTES).outcome).toBe('encoded');
    expect(encodeJson('é'.repeat((MAX_BYTES - 2) / 2), MAX_BYTES).outcome).toBe('encoded');
    expect(problems('x'.repeat(MAX_BYTES - 1))).toEqual([
      'payload is 1001 bytes of JSON, at most 1000 are allowed',
    ]);
    expect(problems(`${'é'.repeat((MAX_BYTES - 2) / 2)}x`)).toEqual([
      'payload is 1001 bytes of JSON, at most 1000 are allowed',
    ]);
  });
});
