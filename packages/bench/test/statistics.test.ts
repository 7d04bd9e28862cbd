/** What several repetitions are put together to. */
import { describe, expect, test } from 'vitest';
import { medianRatio, quantile, summarise } from '../src/statistics.ts';

describe('quantiles', () => {
  test('the median is the value in the middle, or the mean of the two', () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([4, 1, 2, 3], 0.5)).toBe(2.5);
  });

  test('a high quantile is a value that was measured, and rather the higher one', () => {
    const values = Array.from({ length: 200 }, (_, n) => n + 1);
    expect(quantile(values, 0.99)).toBe(199);
    expect(quantile(values, 1)).toBe(200);
  });

  test('the values stay in their order', () => {
    const values = [2, 1];
    summarise(values);
    expect(values).toEqual([2, 1]);
  });

  test('of nothing there is none', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('the ratio to another system', () => {
  test('is taken within each repetition, so that a slow minute of the machine is in both', () => {
    expect(medianRatio([10, 2, 20], [5, 1, 10])).toBe(2);
    // The medians of the two are ten to one.
    expect(medianRatio([10, 2, 20], [1, 1, 10])).toBe(2);
  });

  test('leaves out repetitions that only one of them got through', () => {
    expect(medianRatio([10, undefined, 30], [5, 5, undefined])).toBe(2);
    expect(medianRatio([10], [])).toBeUndefined();
  });
});
