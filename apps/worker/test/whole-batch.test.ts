/** A batch is as many jobs as there are slots, within bounds. */
import { MAX_CLAIM } from '@fencepost/queue/protocol';
import { expect, test } from 'vitest';
import { wholeBatch } from '../src/whole-batch.ts';

test.each([
  [1, 500],
  [500, 500],
  [750, 750],
  [1_000, MAX_CLAIM],
  [5_000, MAX_CLAIM],
])('of %d slots: %d jobs', (slots, jobs) => {
  expect(wholeBatch(slots)).toBe(jobs);
});
