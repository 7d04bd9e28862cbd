/**
 * The worker's only clock: monotonic milliseconds, for durations within this process, the same in all its threads. It
 * is never compared with a time in the table, so that a wall clock that is hours off, or that jumps, changes nothing.
 */
import type { Timers } from '@fencepost/queue/protocol';

export interface Clock extends Timers {
  now(): number;
}

export const systemClock: Clock = {
  // Not performance.now(), which counts from each thread's own start.
  now: () => Number(process.hrtime.bigint()) / 1e6,
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves true when the promise does, or false once so many milliseconds have passed. */
export function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(false));
    const settled = () => {
      cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/** The promise, or a rejection once so many milliseconds have passed without an answer. */
export function timely<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    promise.then(resolve, reject).finally(cancel);
  });
}
