/** `kill-worker(instance=0)`, then `start-worker(instance=0)`: one of two replicas is gone for half of the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

export const crash: Fault = async ({ replicas }, seconds) => {
  const half = sleep(seconds * 500);
  const whole = sleep(seconds * 1_000);
  await replicas.kill(0);
  await half;
  await replicas.start(0);
  await whole;
};
