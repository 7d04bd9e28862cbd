/** What is tried again is tried again with growing waits, also where each try gets a little further. */
import { createPgClient } from '@fencepost/db';
import { waitFor } from '@fencepost/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RepeatedTask } from '../../src/repeated-task.ts';
import { Wake } from '../../src/wake.ts';
import { createJobTable, type JobTable } from '../fixtures/job-table.ts';
import { createTestClock } from '../fixtures/test-clock.ts';

let table: JobTable;
beforeAll(async () => {
  table = await createJobTable();
});
afterAll(() => table.close());

test('maintenance that fails waits longer each time, however short its interval is', async () => {
  const waits: number[] = [];
  let failures = CEILINGS_MS.length;
  const clock = {
    now: () => 0,
    after(ms: number, task: () => void) {
      waits.push(ms);
      if (waits.length <= CEILINGS_MS.length) setImmediate(task);
      return () => {};
    },
  };
  const work = () => (failures-- > 0 ? Promise.reject(new Error('not today')) : Promise.resolve());
  const task = new RepeatedTask(clock, () => 1, work);
  task.start();
  await waitFor(() => waits.length === CEILINGS_MS.length + 1);
  await task.stop();
  expectGrowth(waits);
  expect(waits.at(-1)).toBe(1);
});

test('a LISTEN connection that is lost as soon as it is made is not made again at once', async () => {
  const waits: number[] = [];
  const quick = createTestClock(4);
  const clock = {
    now: quick.now,
    after(ms: number, task: () => void) {
      // Its patience with the server is in whole seconds.
      if (ms % 1_000 !== 0) waits.push(ms);
      return quick.after(ms, task);
    },
  };
  const lose = () =>
    void table.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost at once'`,
    );
  const wake = new Wake({
    connect: (onError) => createPgClient(table.url, { applicationName: 'lost at once', onError }),
    clock,
    logger: pino({ level: 'silent' }),
    onDue: () => {},
    onCancel: () => {},
    onListening: lose,
    onSilence: () => {},
  });
  wake.start();
  await waitFor(() => waits.length >= CEILINGS_MS.length, { timeout: 25_000 });
  await wake.stop();
  expectGrowth(waits);
});

const CEILINGS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];

/** To the ceiling, and by chance a half to a whole of each. */
function expectGrowth(waits: readonly number[]): void {
  for (const [index, ceiling] of CEILINGS_MS.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(ceiling / 2);
    expect(waits[index]).toBeLessThanOrEqual(ceiling);
  }
}
