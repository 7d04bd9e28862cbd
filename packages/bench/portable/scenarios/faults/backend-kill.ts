/** `pg-backend-kill(rate=2)`: twice a second, every session of the queue's database that is doing something is ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const PERIOD_MS = 500;

const END_ACTIVE = `
  SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity
  WHERE datname = current_database()
    AND pid <> pg_backend_pid()
    AND state IN ('active', 'idle in transaction')`;

export const backendKill: Fault = async ({ database }, seconds) => {
  const session = await database.session();
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    await session.query(END_ACTIVE);
    await sleep(PERIOD_MS);
  }
  await session.end();
};
