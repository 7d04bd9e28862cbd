import { expect, it } from 'vitest';
import { herdBatches } from '../adapter/herd.ts';

it('lays a herd for one instant in batches of five hundred', () => {
  const batches = [...herdBatches({ id: 'a', count: 1_200, runAtMs: 5_000, spreadMs: 0 })];

  expect(batches).toEqual([
    { firstSeq: 0, size: 500, runAtMs: 5_000 },
    { firstSeq: 500, size: 500, runAtMs: 5_000 },
    { firstSeq: 1_000, size: 200, runAtMs: 5_000 },
  ]);
});

it('spreads a herd evenly, a tenth of a second a batch', () => {
  const batches = [...herdBatches({ id: 'a', count: 1_000, runAtMs: 0, spreadMs: 10_000 })];

  expect(batches).toHaveLength(100);
  expect(batches.map(({ runAtMs }) => runAtMs)).toEqual(Array.from({ length: 100 }, (_, n) => n * 100));
  expect(batches.reduce((sum, { size }) => sum + size, 0)).toBe(1_000);
});

it('lays a herd of fewer jobs than tenths of a second one by one', () => {
  const batches = [...herdBatches({ id: 'a', count: 3, runAtMs: 0, spreadMs: 60_000 })];

  expect(batches.map(({ size, runAtMs }) => [size, runAtMs])).toEqual([
    [1, 0],
    [1, 20_000],
    [1, 40_000],
  ]);
});
