/** `postgres-restart`: the server is away for half of the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

export const postgresRestart: Fault = async ({ database }, seconds) => {
  const half = sleep(seconds * 500);
  const whole = sleep(seconds * 1_000);
  await database.halt();
  await half;
  await database.resume();
  await whole;
};
