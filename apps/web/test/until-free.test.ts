import { describe, expect, test } from 'vitest';
import { untilFree } from '../src/until-free.ts';

/** Answers `busy` so many times. */
function busyFor(times: number) {
  let asked = 0;
  return {
    asked: () => asked,
    ask: () => Promise.resolve({ outcome: asked++ < times ? ('busy' as const) : ('cancelled' as const) }),
  };
}

describe('a row that is', () => {
  test.each([
    ['free', 0, 'cancelled', 1],
    ['held for a moment', 3, 'cancelled', 4],
    ['held until the last time', 5, 'cancelled', 6],
    ['held for longer', 99, 'busy', 6],
  ])('%s', async (_how, times, outcome, asked) => {
    const row = busyFor(times);
    expect(await untilFree(row.ask)).toEqual({ outcome });
    expect(row.asked()).toBe(asked);
  });
});
