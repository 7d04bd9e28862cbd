/** The ways in which apps enqueue, timed from the first call to the last commit. */
import { now } from '../clock.ts';
import type { Payload, Producer } from '../systems/system.ts';
import type { EnqueueWay } from './calls.ts';

const AT_ONCE = 20;
const BULK = 1_000;
/** Before the clock starts: connections are opened, statements prepared, and code is compiled. */
const WARM_UP = 200;

/** Jobs per second. */
export async function enqueueIn(way: EnqueueWay, producer: Producer, jobs: number): Promise<number> {
  await send(way, producer, way === 'bulk' ? BULK : WARM_UP);
  const startedAt = now();
  await send(way, producer, jobs);
  return (jobs / (now() - startedAt)) * 1_000;
}

async function send(way: EnqueueWay, producer: Producer, jobs: number): Promise<void> {
  switch (way) {
    case 'one at a time':
      return callers(1, jobs, producer.enqueue);
    case '20 at once':
      return callers(AT_ONCE, jobs, producer.enqueue);
    case 'bulk':
      return bulk(jobs, producer);
    case 'transaction':
      return callers(1, jobs, inTransaction(producer));
    case '20 transactions':
      return callers(AT_ONCE, jobs, inTransaction(producer));
  }
}

/** Each sends its next one when the last one is done. */
async function callers(count: number, jobs: number, enqueue: Producer['enqueue']): Promise<void> {
  let sent = 0;
  const caller = async () => {
    while (sent < jobs) await enqueue({ n: sent++ });
  };
  await Promise.all(Array.from({ length: count }, caller));
}

async function bulk(jobs: number, { enqueueMany }: Producer): Promise<void> {
  for (let sent = 0; sent < jobs; sent += BULK) {
    const count = Math.min(BULK, jobs - sent);
    await enqueueMany(Array.from({ length: count }, (_, n): Payload => ({ n: sent + n })));
  }
}

function inTransaction({ enqueueInTransaction }: Producer): Producer['enqueue'] {
  if (!enqueueInTransaction) throw new Error("its jobs cannot be part of the app's transaction");
  return enqueueInTransaction;
}
