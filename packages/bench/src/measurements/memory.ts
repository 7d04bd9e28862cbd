/**
 * What a worker process holds in memory, connections, threads and Node itself included: while it drains, and once it is
 * idle again after as many jobs as an hour at a hundred a second brings, in several drains, so that growth would show.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child/spawn.ts';
import { quantile } from '../statistics.ts';
import { untilStarted } from './drain.ts';
import { shareOf, type Measurement } from './measurement.ts';

/** An hour at a hundred a second is 360,000 jobs, of a hundred thousand jobs a drain. */
const DRAINS = 3.6;
const PARTS = 9;
const SAMPLE_MS = 50;
/** After the last job. */
const IDLE_MS = 3_000;

export const memory: Measurement = {
  name: 'memory',
  cases: [
    {
      title: 'memory of one worker',
      takesPart: () => true,
      run: (bench, contestant) =>
        bench.inArena(contestant, async (arena) => {
          const part = Math.round(shareOf(contestant, bench.options.jobs * DRAINS) / PARTS);
          const producer = await arena.start('producer');
          const worker = await arena.start('worker');
          await worker.call('open', { handlerMs: 0 });
          await worker.call('go', {});

          const parts: number[][] = [];
          for (let done = 1; done <= PARTS; done++) {
            const started = untilStarted([worker], done * part);
            const sampling = sampleUntil(worker, async () => {
              await producer.call('fill', { jobs: part, payloadBytes: 0 });
              await started;
              await producer.call('untilDrained', {});
            });
            parts.push(await sampling);
          }
          await sleep(IDLE_MS);
          const after = await worker.call('residentMemory', {});
          const medians = parts.map((samples) => quantile(samples, 0.5));
          return {
            'MB while draining': megabytes(quantile(parts.flat(), 0.5)),
            'MB at most': megabytes(quantile(parts.flat(), 1)),
            'MB when idle again': megabytes(after),
            // The first drain compiles the code and opens the connections.
            'last drain ÷ second': (medians.at(-1) ?? NaN) / (medians[1] ?? NaN),
          };
        }),
    },
  ],
};

async function sampleUntil(worker: Child<'worker'>, done: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  let isDone = false;
  const sample = async () => {
    while (!isDone) {
      samples.push(await worker.call('residentMemory', {}));
      await sleep(SAMPLE_MS);
    }
  };
  const sampling = sample();
  try {
    await done();
  } finally {
    isDone = true;
    await sampling;
  }
  return samples;
}

const megabytes = (bytes: number) => bytes / 1_000_000;
