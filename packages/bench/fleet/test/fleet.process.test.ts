import { expect, it } from 'vitest';
import { costsOf } from '../costs.ts';
import { measureFleet } from '../measure-fleet.ts';
import { report } from '../report.ts';
import { readSettings } from '../settings.ts';

it('measures a small fleet: idle, woken by single jobs, and under load', async () => {
  const argv = ['--workers', '2', '--processes', '2', '--seconds', '2', '--rate', '10', '--pool', '2'];
  const result = await measureFleet(2, readSettings(argv));

  const { idle, woken, load, log } = result;
  expect(log).toBe('');
  expect(idle.completed).toBe(0);
  expect(woken.completed).toBe(woken.enqueued);
  // Both workers look for each of them.
  expect(woken.statements.claim.calls).toBeGreaterThanOrEqual(2 * woken.enqueued);
  expect(load.waits).toMatchObject({ enqueued: 40 });
  expect(load.statements.enqueue.calls).toBeGreaterThan(0);
  expect(load.statements.complete.calls).toBeGreaterThan(0);
  expect(load.walBytes).toBeGreaterThan(0);
  if (process.platform === 'linux') {
    expect(load.cpuMs).toBeGreaterThan(0);
    // The kernel counts by ten milliseconds, which two idle workers may not use up.
    expect(costsOf(result)?.idleSecond).toBeGreaterThanOrEqual(0);
  }
  expect(report([result])).toContain('under load');
});
