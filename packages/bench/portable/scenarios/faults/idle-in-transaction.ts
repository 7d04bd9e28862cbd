/** `idle-in-tx`: a transaction that has an id does nothing, so that no row that dies meanwhile can be cleared away. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

export const idleInTransaction: Fault = async ({ database }, seconds) => {
  const session = await database.session();
  await session.query('BEGIN');
  await session.query('SELECT txid_current()');
  await sleep(seconds * 1_000);
  await session.end();
};
