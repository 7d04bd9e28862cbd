/**
 * How fast jobs are enqueued, each way with wake-ups and, where they can be turned off, without. No worker runs: what is
 * measured is the producer and the store. The table is empty at the start of each.
 */
import type { Bench } from '../bench.ts';
import { ENQUEUE_WAYS, type EnqueueWay } from '../child/calls.ts';
import type { Contestant } from '../systems/index.ts';
import { shareOf, type Case, type Measurement } from './measurement.ts';

/** Jobs of each way, of a hundred thousand. */
const JOBS: Record<EnqueueWay, number> = {
  'one at a time': 2_000,
  '20 at once': 10_000,
  bulk: 50_000,
  transaction: 2_000,
  '20 transactions': 10_000,
};
const OF = 100_000;

export const enqueue: Measurement = {
  name: 'enqueue',
  cases: ENQUEUE_WAYS.map(enqueueCase),
};

function enqueueCase(way: EnqueueWay): Case {
  const needsTransaction = way === 'transaction' || way === '20 transactions';
  return {
    title: `enqueue, ${way}`,
    takesPart: ({ can }) => !needsTransaction || can.includes('transactions'),
    async run(bench, contestant) {
      const jobs = jobsOf(way, contestant, bench.options.jobs);
      const measure = (wakeUps: boolean) => enqueueOnce(bench, contestant, { way, jobs, wakeUps });
      if (!contestant.can.includes('no wake-ups')) return { 'jobs/s': await measure(true) };
      // One right after the other, and neither always first.
      const isFirst = Math.random() < 0.5;
      const before = await measure(isFirst);
      const after = await measure(!isFirst);
      const [withThem, without] = isFirst ? [before, after] : [after, before];
      return {
        'jobs/s': withThem,
        'jobs/s without wake-ups': without,
        'kept with wake-ups': withThem / without,
      };
    },
  };
}

/** Jobs per second, into a fresh store. */
async function enqueueOnce(
  bench: Bench,
  contestant: Contestant,
  { way, jobs, wakeUps }: { way: EnqueueWay; jobs: number; wakeUps: boolean },
): Promise<number> {
  return bench.inArena(contestant, async (arena) => {
    const producer = await arena.start('producer');
    if (!wakeUps) await producer.call('withoutWakeUps', {});
    await arena.settle();
    return producer.call('enqueue', { way, jobs });
  });
}

function jobsOf(way: EnqueueWay, contestant: Contestant, jobs: number): number {
  return shareOf(contestant, (JOBS[way] * jobs) / OF);
}
