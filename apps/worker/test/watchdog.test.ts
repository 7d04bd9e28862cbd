import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Clock } from '../src/clock.ts';
import type { HealthReport } from '../src/health.ts';
import { startWatchdog } from '../src/watchdog.ts';

const logger = pino({ level: 'silent' });

/** A clock that stands still until it is told to go on. */
function createManualClock() {
  let now = 0;
  let tasks: { readonly at: number; readonly task: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    after(ms, task) {
      const entry = { at: now + ms, task };
      tasks.push(entry);
      return () => {
        tasks = tasks.filter((other) => other !== entry);
      };
    },
  };
  const pass = (ms: number) => {
    const until = now + ms;
    for (;;) {
      const [next] = tasks.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      tasks = tasks.filter((other) => other !== next);
      now = next.at;
      next.task();
    }
    now = until;
  };
  return { clock, pass };
}

function watch() {
  const { clock, pass } = createManualClock();
  const gaveUp: (readonly string[])[] = [];
  let problems: readonly string[] = [];
  const health = () => ({ healthy: problems.length === 0, problems }) as HealthReport;
  const watchdog = startWatchdog(clock, logger, health, (why) => gaveUp.push(why));
  return {
    ...{ gaveUp, pass, watchdog },
    be(...found: string[]) {
      problems = found;
    },
  };
}

test('gives up once, after two minutes of illness without a pause', () => {
  const { be, pass, gaveUp } = watch();
  pass(3_600_000);
  be('ill');
  pass(119_000);
  expect(gaveUp).toEqual([]);
  pass(10_000);
  expect(gaveUp).toEqual([['ill']]);
  pass(3_600_000);
  expect(gaveUp).toHaveLength(1);
});

test('a moment of health starts the count anew', () => {
  const { be, pass, gaveUp } = watch();
  be('ill');
  pass(100_000);
  be();
  pass(5_000);
  be('ill again');
  pass(100_000);
  expect(gaveUp).toEqual([]);
  pass(30_000);
  expect(gaveUp).toEqual([['ill again']]);
});

test('is quiet once it is stopped', () => {
  const { be, pass, gaveUp, watchdog } = watch();
  be('ill');
  pass(60_000);
  watchdog.stop();
  pass(3_600_000);
  expect(gaveUp).toEqual([]);
});
