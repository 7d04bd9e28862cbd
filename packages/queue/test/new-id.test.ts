import { validate, version } from 'uuid';
import { afterEach, expect, test, vi } from 'vitest';
import { newId } from '../src/new-id.ts';

afterEach(() => vi.useRealTimers());

test('ids are UUIDs v7 of this moment', () => {
  const before = Date.now();
  const id = newId();
  expect(validate(id)).toBe(true);
  expect(version(id)).toBe(7);
  const msecs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  expect(msecs).toBeGreaterThanOrEqual(before);
  expect(msecs).toBeLessThanOrEqual(Date.now());
});

test('each is greater than the one before it, however many there are in a millisecond', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('their order survives a clock that goes back', () => {
  vi.useFakeTimers({ now: Date.now() + 60_000 });
  const ids = [newId()];
  vi.setSystemTime(Date.now() - 30_000);
  ids.push(newId(), newId());
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(3);
});

test('what is random in them is drawn anew for each', () => {
  const tails = Array.from({ length: 1_000 }, () => newId().slice(-10));
  expect(new Set(tails).size).toBe(tails.length);
});
