import { describe, expect, test } from 'vitest';
import { interleavings, interrupted, meetings, placesOf, spell } from './interleave.ts';

const AB = ['A', 'B'];

test('two transactions of two steps have six orders', () => {
  expect(interleavings(2).map((order) => spell(order, AB))).toEqual([
    'A writes, A ends, B writes, B ends',
    'A writes, B writes, A ends, B ends',
    'A writes, B writes, B ends, A ends',
    'B writes, A writes, A ends, B ends',
    'B writes, A writes, B ends, A ends',
    'B writes, B ends, A writes, A ends',
  ]);
});

test.each([
  [1, 1],
  [3, 90],
  [4, 2_520],
])('%i transactions have (2n)!/2^n = %i, no two alike', (transactions, count) => {
  const orders = interleavings(transactions).map((order) => spell(order, ['A', 'B', 'C', 'D']));
  expect(orders).toHaveLength(count);
  expect(new Set(orders).size).toBe(count);
});

describe('a look of its own', () => {
  test('stands before an end of another one that comes before the write, where alone it makes a difference', () => {
    const looking = interleavings(2, { looks: true }).filter((order) => order.length > 4);
    expect(looking.map((order) => spell(order, AB))).toEqual([
      'A writes, B looks, A ends, B writes, B ends',
      'B writes, A looks, B ends, A writes, A ends',
    ]);
  });

  test('is taken before every such end in turn', () => {
    const orders = interleavings(3, { looks: true }).map((order) => spell(order, ['A', 'B', 'C']));
    expect(orders).toContain('A writes, C looks, A ends, B writes, B ends, C writes, C ends');
    expect(orders).toContain('A writes, A ends, B writes, C looks, B ends, C writes, C ends');
    expect(orders).toContain('A writes, B looks, C looks, A ends, B writes, B ends, C writes, C ends');
    expect(new Set(orders).size).toBe(orders.length);
  });

  test('never comes after its write', () => {
    for (const order of interleavings(3, { looks: true })) {
      for (const of of [0, 1, 2]) {
        const { look, write, end } = placesOf(order, of);
        expect(look).toBeLessThanOrEqual(write);
        expect(write).toBeLessThan(end);
      }
    }
  });
});

test('without interruptions there are the serial orders, and with more of them more orders', () => {
  expect(interleavings(4, { interruptions: 0 })).toHaveLength(24);
  const counts = [0, 1, 2, 3, 4, 5, 6].map((interruptions) => interleavings(4, { interruptions }).length);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(2_520);
});

test('two transactions meet in all orders but two', () => {
  expect(meetings(2).map((order) => spell(order, AB))).toEqual([
    'A writes, B writes, A ends, B ends',
    'A writes, B writes, B ends, A ends',
    'B writes, A writes, A ends, B ends',
    'B writes, A writes, B ends, A ends',
  ]);
  expect(meetings(2, { looks: true })).toHaveLength(6);
});

test('one that is interrupted before its end is so by all of the other', () => {
  expect(spell(interrupted(1), AB)).toBe('B writes, A writes, A ends, B ends');
});
