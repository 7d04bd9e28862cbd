/** Waiting in tests: poll a condition to a deadline, for what sends no signal. Never a fixed sleep. */
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { WaitTimeoutError } from './errors.ts';

export interface WaitOptions {
  /** Milliseconds. Generous: it is only ever used up by a test that fails. */
  timeout?: number;
  /** Milliseconds between two looks. */
  interval?: number;
}

/**
 * Calls `condition` until it returns something truthy, and resolves to that. A condition that throws is asked again.
 * @throws WaitTimeoutError naming the condition's source and what it returned or threw last
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeout = 10_000, interval = 20 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeout;
  let last = 'never came back';
  for (;;) {
    let cause: unknown;
    try {
      const value = await beforeDeadline(condition(), deadline);
      if (value) return value;
      last = `returned ${inspect(value)}`;
    } catch (error) {
      cause = error;
      if (error !== deadlinePassed) last = `threw ${String(error)}`;
    }
    if (performance.now() >= deadline) {
      throw new WaitTimeoutError(`not true after ${timeout} ms: ${String(condition)}; it last ${last}`, {
        cause,
      });
    }
    await delay(interval);
  }
}

const deadlinePassed = new Error('the deadline passed');

/** So that a condition that hangs (a query behind a lock) is reported as what it is. */
async function beforeDeadline<T>(value: T | Promise<T>, deadline: number): Promise<T> {
  const over = new AbortController();
  const timer = delay(Math.max(0, deadline - performance.now()), undefined, { signal: over.signal });
  try {
    return await Promise.race([value, timer.then(() => Promise.reject(deadlinePassed))]);
  } finally {
    over.abort();
    timer.catch(() => undefined);
  }
}
