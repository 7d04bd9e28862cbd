import { expect, it } from 'vitest';
import { Credit } from '../adapter/credit.ts';

it('owes what the rate comes to in the time that has really passed, however late the loop comes round', () => {
  const credit = new Credit(0);
  const taken = [25, 50, 400, 1_000].map((now) => credit.take(100, now, 1_000));

  expect(taken).toEqual([2, 3, 35, 60]);
});

it('takes no more than it is asked for, and owes the rest', () => {
  const credit = new Credit(0);

  expect(credit.take(1_000, 1_000, 128)).toBe(128);
  expect(credit.take(1_000, 1_000, 1_000)).toBe(872);
});

it('forgives everything at a rate of 0, and starts anew from there', () => {
  const credit = new Credit(0);
  credit.take(1_000, 1_000, 1);

  expect(credit.take(0, 5_000, 1_000)).toBe(0);
  expect(credit.take(1_000, 5_010, 1_000)).toBe(10);
});
