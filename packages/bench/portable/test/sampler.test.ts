import { expect, it } from 'vitest';
import { sampleOnTicks } from '../adapter/sampler.ts';

it('never stamps a sample before its tick, although timers ring early', async () => {
  const over = new AbortController();
  const periodMs = 7;
  const stamps: number[] = [];
  await sampleOnTicks({
    everyS: periodMs / 1_000,
    signal: over.signal,
    sample: async (at) => {
      stamps.push(at.getTime());
      if (stamps.length === 300) over.abort();
    },
  });

  const ticks = stamps.map((stamp) => Math.floor(stamp / periodMs));
  expect(new Set(ticks).size).toBe(ticks.length);
});
