/** `high-load`: so many times the rate is offered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

export function highLoad(times: number): Fault {
  return async ({ replicas }, seconds) => {
    await replicas.offer(times);
    await sleep(seconds * 1_000);
    await replicas.offer(1);
  };
}
