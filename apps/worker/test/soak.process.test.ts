/** Twenty seconds of `npm run soak`: every kind of fault on real processes, and nothing that is not as it must be. */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { report } from '../soak/report.ts';
import { soak } from '../soak/soak.ts';

const SECONDS = 20;

test('the protocol survives what a seed draws', { timeout: 900_000 }, async () => {
  const settings = { seconds: SECONDS, seed: randomInt(2 ** 32), workers: 3, keepCompleted: true };
  const result = await soak(settings, () => {});
  const printed = report(settings, result);
  expect(result.violations, printed).toEqual([]);
  // It was a soak: none of the kinds was left out, and there was something to lose.
  expect(Object.values(result.faults), printed).not.toContain(0);
  expect(result.counts.completions, printed).toBeGreaterThan(10);
  expect(result.counts.fenced['complete'], printed).toBeGreaterThan(0);
});
