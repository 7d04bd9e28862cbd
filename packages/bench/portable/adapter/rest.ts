/** Waiting that a signal ends, without an error: whoever waits looks at the signal anyway. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
}

/** Waits for `work`, but not for longer than `ms`. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, rest(ms, over.signal)]).finally(() => over.abort());
}
