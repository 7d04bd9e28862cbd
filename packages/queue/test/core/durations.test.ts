import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../src/core/durations.ts';

describe('parseDuration', () => {
  test.each([
    [0, 0],
    [1_500, 1_500],
    ['0ms', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['007s', 7_000],
  ])('%j is %d ms', (value, ms) => {
    expect(parseDuration(value)).toBe(ms);
  });

  test.each([
    -1,
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.MAX_SAFE_INTEGER + 1,
    '',
    '5',
    's',
    '-5s',
    '1.5s',
    '5 s',
    '5S',
    '5m\n',
    '1e3ms',
    '999999999999d',
    '1234567890123ms',
    null,
    undefined,
    true,
    5n,
    {},
    [['5s']],
    new Date(5),
  ])('%s is none', (value) => {
    expect(parseDuration(value)).toBeUndefined();
  });
});
