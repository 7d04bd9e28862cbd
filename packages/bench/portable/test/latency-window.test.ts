import { expect, it } from 'vitest';
import { LatencyWindow } from '../adapter/latency-window.ts';

it('tells percentiles to three figures', () => {
  const window = new LatencyWindow(() => 0);
  for (let ms = 1; ms <= 1_000; ms++) window.record(ms);

  const { p50, p95, p99 } = window.percentiles();
  expect(Math.abs(p50 - 500)).toBeLessThan(1);
  expect(Math.abs(p95 - 950)).toBeLessThan(1);
  expect(Math.abs(p99 - 990)).toBeLessThan(1);
});

it('forgets what is older than thirty seconds', () => {
  let now = 0;
  const window = new LatencyWindow(() => now);
  window.record(5_000);
  now = 29_000;
  window.record(1);
  expect(window.percentiles().p99).toBeGreaterThan(4_900);

  now = 30_000;
  window.record(1);
  expect(window.percentiles().p99).toBe(1);
  now = 33_000;
  expect(window.percentiles().p99).toBe(1);
  now = 90_000;
  expect(window.percentiles()).toEqual({ p50: 0, p95: 0, p99: 0 });
});

it('takes less than nothing, as between two clocks, and more than an hour', () => {
  const window = new LatencyWindow(() => 0);
  window.record(-3);
  expect(window.percentiles().p50).toBe(0.001);

  window.record(10 * 3_600_000);
  expect(window.percentiles().p99).toBeGreaterThan(3_500_000);
});
