/** `pool-exhaustion(idle_conns=300)`: idle sessions take every connection that the server still has. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Fault } from './fault.ts';

const MOST = 300;

export const poolExhaustion: Fault = async ({ database }, seconds) => {
  const whole = sleep(seconds * 1_000);
  const sessions: pg.Client[] = [];
  try {
    while (sessions.length < MOST) sessions.push(await database.session());
  } catch {
    // The server has no more: as full as it gets.
  }
  await whole;
  await Promise.all(sessions.map((session) => session.end()));
};
