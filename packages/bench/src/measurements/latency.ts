/**
 * From the commit of an enqueue, as its caller sees it, to the start of the handler in another process: on a queue that
 * is idle, and on one that works off half of what it could. Both processes read the machine's one clock.
 */
import type { Bench } from '../bench.ts';
import { BenchError } from '../bench-error.ts';
import type { Child } from '../child/spawn.ts';
import { quantile } from '../statistics.ts';
import type { Contestant } from '../systems/index.ts';
import { drainOnce, untilStarted } from './drain.ts';
import { shareOf, type Measurement } from './measurement.ts';

/** Between two probes: until the worker has settled and sleeps again. */
const IDLE_PAUSE_MS: [number, number] = [20, 80];
const LOADED_PAUSE_MS: [number, number] = [5, 25];
/** Under load, before the first probe. */
const SETTLE_IN_MS = 1_000;
const PATIENCE_MS = 30_000;
/** Before those that count, so that the worker has come to rest. */
const WARM_UP = 20;

export const latency: Measurement = {
  name: 'latency',
  cases: [
    {
      title: 'latency, idle queue',
      takesPart: () => true,
      run: (bench, contestant) => measure(bench, contestant, IDLE_PAUSE_MS, 0),
    },
    {
      title: 'latency, half of its drain as load',
      takesPart: () => true,
      run: async (bench, contestant) =>
        measure(bench, contestant, LOADED_PAUSE_MS, (await drainRate(bench, contestant)) / 2),
    },
  ],
};

async function measure(
  bench: Bench,
  contestant: Contestant,
  pauseMs: [number, number],
  jobsPerSecond: number,
): Promise<Record<string, number>> {
  return bench.inArena(contestant, async (arena) => {
    const producer = await arena.start('producer');
    const worker = await arena.start('worker');
    await worker.call('open', { handlerMs: 0 });
    await worker.call('go', {});
    // No table in production is empty and unknown to the planner.
    const jobs = shareOf(contestant, bench.options.jobs / 10);
    const started = untilStarted([worker], jobs);
    await producer.call('fill', { jobs, payloadBytes: 0 });
    await started;
    await producer.call('untilDrained', {});
    await arena.settle();
    await probe(producer, worker, WARM_UP, IDLE_PAUSE_MS);

    if (jobsPerSecond === 0) {
      return figures(await probe(producer, worker, bench.options.probes, pauseMs));
    }
    await producer.call('startLoad', { jobsPerSecond });
    await new Promise((resolve) => setTimeout(resolve, SETTLE_IN_MS));
    const latencies = await probe(producer, worker, bench.options.probes, pauseMs);
    const load = await producer.call('stopLoad', {});
    return { ...figures(latencies), 'jobs/s beside': load.jobs / load.seconds };
  });
}

function figures(latencies: readonly number[]): Record<string, number> {
  return {
    'p50 ms': quantile(latencies, 0.5),
    'p95 ms': quantile(latencies, 0.95),
    'p99 ms': quantile(latencies, 0.99),
    'max ms': quantile(latencies, 1),
  };
}

async function probe(
  producer: Child<'producer'>,
  worker: Child<'worker'>,
  probes: number,
  pauseMs: [number, number],
): Promise<number[]> {
  const startedAt = new Map<number, number>();
  const allStarted = new Promise<void>((resolve) => {
    worker.on((event) => {
      // At least once: the first start is the one that counts.
      if (event.event !== 'probe started' || startedAt.has(event.probe)) return;
      startedAt.set(event.probe, event.at);
      if (startedAt.size === probes) resolve();
    });
  });
  const committedAt = await producer.call('probe', { probes, pauseMs });
  await withPatience(allStarted, () => `${startedAt.size} of ${probes} probes were started`);
  return committedAt.map((at, index) => (startedAt.get(index) ?? NaN) - at);
}

async function withPatience(done: Promise<void>, describe: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const outOfPatience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BenchError(describe())), PATIENCE_MS);
  });
  try {
    await Promise.race([done, outOfPatience]);
  } finally {
    clearTimeout(timer);
  }
}

/** The median of what was measured, or of one drain for the purpose. */
async function drainRate(bench: Bench, contestant: Contestant): Promise<number> {
  const rates = bench.drained.get(contestant.name) ?? [];
  if (rates.length === 0) {
    const jobs = shareOf(contestant, bench.options.jobs);
    rates.push(await drainOnce(bench, contestant, { jobs, processes: 1, payloadBytes: 0, handlerMs: 0 }));
    bench.drained.set(contestant.name, rates);
  }
  return quantile(rates, 0.5);
}
