/** `active-readers`: four sessions count the rows of the queue's table again and again, each under one old snapshot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Fault } from './fault.ts';

const READERS = 4;
const PAUSE_MS = 100;

export const activeReaders: Fault = async ({ database }, seconds) => {
  const sessions = await Promise.all(Array.from({ length: READERS }, () => database.session()));
  const until = performance.now() + seconds * 1_000;
  try {
    await Promise.all(sessions.map((session) => read(session, until)));
  } finally {
    await Promise.all(sessions.map((session) => session.end()));
  }
};

async function read(session: pg.Client, until: number): Promise<void> {
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  while (performance.now() < until) {
    await session.query('SELECT count(*) FROM public.job_queue');
    await sleep(PAUSE_MS);
  }
  await session.query('ROLLBACK');
}
