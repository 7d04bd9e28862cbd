import { expect, test } from 'vitest';
import { Doorbell } from '../src/doorbell.ts';
import { createTestClock } from './fixtures/test-clock.ts';

const clock = createTestClock();

test('a ring is kept for whoever waits next, until it is answered', async () => {
  const bell = new Doorbell();
  bell.ring();
  expect(await bell.wait(clock, 5_000)).toBe(true);
  bell.answer();
  expect(await bell.wait(clock, 1)).toBe(false);
});

test('everybody who waits is woken, whoever else has given up', async () => {
  const bell = new Doorbell();
  const brief = bell.wait(clock, 5);
  const patient = [bell.wait(clock, 60_000), bell.wait(clock, 60_000)];
  expect(await brief).toBe(false);
  bell.ring();
  expect(await Promise.all(patient)).toEqual([true, true]);
});
