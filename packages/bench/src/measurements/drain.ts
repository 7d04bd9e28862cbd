/**
 * How fast a queue that is full is worked off. Timed from the start of the first handler, in whichever process, until
 * nothing unfinished is left in the store: until the last settlement is committed, not until the last handler has run.
 */
import type { Bench } from '../bench.ts';
import { BenchError } from '../bench-error.ts';
import type { Child } from '../child/spawn.ts';
import type { Contestant } from '../systems/index.ts';
import { shareOf, type Case, type Measurement } from './measurement.ts';

export interface DrainSettings {
  readonly jobs: number;
  readonly processes: number;
  readonly payloadBytes: number;
  readonly handlerMs: number;
  /** Left out for what is best for handlers that do nothing. */
  readonly concurrency?: number;
}

const SLEEPING = { handlerMs: 5, concurrency: 50 };
/** Jobs of 5 ms, of which 50 at once make 10,000 a second at the very best. */
const SLEEPING_SHARE = 0.2;
const PLAIN = { processes: 1, payloadBytes: 0, handlerMs: 0 };
/** Without any progress. */
const STALLED_MS = 60_000;

export const drain: Measurement = {
  name: 'drain',
  cases: [
    drainCase('drain, 1 process', PLAIN, { remember: true }),
    drainCase('drain, 4 processes', { ...PLAIN, processes: 4 }),
    drainCase('drain, 1 KiB payload', { ...PLAIN, payloadBytes: 1_024 }),
    drainCase(
      `drain, ${SLEEPING.handlerMs} ms at concurrency ${SLEEPING.concurrency}`,
      { ...PLAIN, ...SLEEPING },
      { share: SLEEPING_SHARE, batchesToo: false },
    ),
  ],
};

function drainCase(
  title: string,
  settings: Omit<DrainSettings, 'jobs'>,
  { share = 1, batchesToo = true, remember = false } = {},
): Case {
  return {
    title,
    takesPart: ({ batchesOnly }) => batchesToo || !batchesOnly,
    async run(bench, contestant) {
      const jobs = shareOf(contestant, bench.options.jobs * share);
      const rate = await drainOnce(bench, contestant, { ...settings, jobs });
      if (remember) bench.drained.set(contestant.name, [...(bench.drained.get(contestant.name) ?? []), rate]);
      return { 'jobs/s': rate };
    },
  };
}

/** Jobs per second, on a fresh store. */
export async function drainOnce(
  bench: Bench,
  contestant: Contestant,
  { jobs, processes, payloadBytes, handlerMs, concurrency }: DrainSettings,
): Promise<number> {
  return bench.inArena(contestant, async (arena) => {
    const producer = await arena.start('producer');
    await producer.call('fill', { jobs, payloadBytes });
    await arena.settle();

    const workers: Child<'worker'>[] = [];
    for (let n = 0; n < processes; n++) workers.push(await arena.start('worker'));
    await Promise.all(
      workers.map((worker) => worker.call('open', { handlerMs, ...(concurrency && { concurrency }) })),
    );
    const started = untilStarted(workers, jobs);
    await Promise.all([started, ...workers.map((worker) => worker.call('go', {}))]);
    const drainedAt = await producer.call('untilDrained', {});
    return (jobs / (drainedAt - (await started))) * 1_000;
  });
}

/** Resolves once so many handlers have been started, to when the first one was. */
export function untilStarted(workers: readonly Child<'worker'>[], jobs: number): Promise<number> {
  const counts = workers.map(() => 0);
  let firstAt = Infinity;
  return new Promise((resolve, reject) => {
    const stalled = setTimeout(() => {
      reject(new BenchError(`${counts.reduce((sum, count) => sum + count)} of ${jobs} jobs, and no more`));
    }, STALLED_MS);
    workers.forEach((worker, index) =>
      worker.on((event) => {
        if (event.event !== 'starts') return;
        stalled.refresh();
        counts[index] = event.count;
        firstAt = Math.min(firstAt, event.firstAt);
        if (counts.reduce((sum, count) => sum + count) < jobs) return;
        clearTimeout(stalled);
        resolve(firstAt);
      }),
    );
  });
}
