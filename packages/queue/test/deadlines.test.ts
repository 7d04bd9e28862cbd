/** The timeouts of many runs by one timer, with a clock in the test's hands. */
import { expect, test } from 'vitest';
import { Deadlines, type Timers } from '../src/protocol.ts';

class HandClock implements Timers {
  #now = 0;
  readonly #timers = new Map<() => void, number>();

  now(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): () => void {
    this.#timers.set(task, this.#now + ms);
    return () => this.#timers.delete(task);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Rings what is due, in its order. */
  passTo(now: number): void {
    for (;;) {
      const [next] = [...this.#timers].toSorted(([, a], [, b]) => a - b);
      if (next === undefined || next[1] > now) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1]);
      next[0]();
    }
    this.#now = now;
  }
}

function setUp() {
  const clock = new HandClock();
  const deadlines = new Deadlines(clock);
  const expired: string[] = [];
  const newRun = (name: string) => ({ expire: () => void expired.push(`${name} at ${clock.now()}`) });
  return { clock, deadlines, expired, newRun };
}

test('every run has its time, each its own time, and of equally long ones only one timer is set', () => {
  const { clock, deadlines, expired, newRun } = setUp();
  for (const [name, at] of Object.entries({ first: 0, second: 10, third: 10, fourth: 60 })) {
    clock.passTo(at);
    deadlines.begin(newRun(name), 100);
  }
  expect(clock.timers).toBe(1);
  clock.passTo(99);
  expect(expired).toEqual([]);
  clock.passTo(500);
  expect(expired).toEqual(['first at 100', 'second at 110', 'third at 110', 'fourth at 160']);
  expect(clock.timers).toBe(0);
});

test('one that has ended is not told, and the others in time', () => {
  const { clock, deadlines, expired, newRun } = setUp();
  const [first, second] = [newRun('first'), newRun('second')];
  deadlines.begin(first, 100);
  clock.passTo(50);
  deadlines.begin(second, 100);
  deadlines.end(first, 100);
  clock.passTo(500);
  expect(expired).toEqual(['second at 150']);
});

test('when the last has ended no timer is left, and the next one sets it anew', () => {
  const { clock, deadlines, expired, newRun } = setUp();
  const run = newRun('run');
  deadlines.begin(run, 100);
  deadlines.end(run, 100);
  expect(clock.timers).toBe(0);
  clock.passTo(70);
  deadlines.begin(run, 100);
  clock.passTo(169);
  expect(expired).toEqual([]);
  clock.passTo(170);
  expect(expired).toEqual(['run at 170']);
});

test('one that throws, or begins another, costs nobody the time that is left', () => {
  const { clock, deadlines, expired, newRun } = setUp();
  const next = newRun('next');
  deadlines.begin({ expire: () => deadlines.begin(next, 100) }, 100);
  deadlines.begin(
    {
      expire() {
        throw new Error('from a listener');
      },
    },
    100,
  );
  clock.passTo(50);
  deadlines.begin(newRun('later'), 100);
  expect(() => clock.passTo(100)).toThrow('from a listener');
  expect(clock.timers).toBe(1);
  clock.passTo(500);
  expect(expired).toEqual(['later at 150', 'next at 200']);
});

test('a shorter time is not held up by a longer one', () => {
  const { clock, deadlines, expired, newRun } = setUp();
  deadlines.begin(newRun('long'), 1_000);
  deadlines.begin(newRun('short'), 10);
  clock.passTo(2_000);
  expect(expired).toEqual(['short at 10', 'long at 1000']);
});

test('a timer that rings a moment early ends nobody too soon', () => {
  let now = 0;
  const tasks: [number, () => void][] = [];
  const early: Timers = {
    now: () => now,
    after: (ms, task) => (tasks.push([ms, task]), () => {}),
  };
  const deadlines = new Deadlines(early);
  let expired = false;
  deadlines.begin({ expire: () => (expired = true) }, 100);
  now = 99.5;
  tasks.shift()![1]();
  expect(expired).toBe(false);
  expect(tasks.map(([ms]) => ms)).toEqual([0.5]);
  now = 100.5;
  tasks.shift()![1]();
  expect(expired).toBe(true);
});
