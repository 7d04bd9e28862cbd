/** The metrics of one tick, by the names of the contract and of the other systems' adapters. */
import type { Metrics } from '@fencepost/worker';
import type { AdapterConfig } from './config.ts';
import type { BenchContracts } from './contracts.ts';
import type { Failures } from './failures.ts';
import type { HerdTally } from './herd-tally.ts';
import { WINDOW_S, type LatencyWindow } from './latency-window.ts';
import type { Observer } from './observer.ts';
import type { Reading } from './records.ts';
import type { Tally } from './tally.ts';

export interface ReadingsParts {
  readonly config: AdapterConfig;
  readonly contracts: BenchContracts;
  readonly tally: Tally;
  readonly failures: Failures;
  readonly herd: HerdTally;
  readonly observer: Observer;
  readonly metrics: Metrics;
}

/** Returns the function that reads everything; rates are of what has happened since it was last called. */
export function createReadings(parts: ReadingsParts): (elapsedS: number) => Promise<Reading[]> {
  const { config, contracts, tally, failures, herd, observer, metrics } = parts;
  const before = new Map<string, number>();
  const queueTypes = new Set(contracts.queues.map(({ type }) => type));
  const herdTypes = new Set([contracts.herd.type]);

  return async (elapsedS) => {
    const rate = (metric: string, total: number): Reading => {
      const since = total - (before.get(metric) ?? 0);
      before.set(metric, total);
      return { metric, value: since / elapsedS, windowS: elapsedS };
    };
    const readings = [
      ...percentiles('producer_call', tally.producerCall),
      ...percentiles('producer', tally.producer),
      ...percentiles('subscriber', tally.claim),
      ...percentiles('claim', tally.claim),
      ...percentiles('end_to_end', tally.endToEnd),
      rate('enqueue_rate', tally.enqueued),
      // What is settled, not what a handler has got through: a run that lost its claim has completed nothing.
      rate('completion_rate', await completions(metrics, queueTypes)),
    ];
    // What is the same for all replicas is told by one.
    if (config.instance === 0) {
      readings.push(
        now('queue_depth', observer.due),
        now('scheduled_depth', observer.scheduled),
        now('producer_target_rate', tally.targetRate),
      );
    }
    if (config.failureFile !== undefined) {
      readings.push(
        rate('injected_failure_rate', failures.injected),
        rate('retried_completion_rate', failures.retried),
        rate('poison_exhausted_rate', failures.exhausted),
      );
    }
    if (herd.begun + herd.enqueued > 0) {
      readings.push(
        rate('scheduled_completion_rate', await completions(metrics, herdTypes)),
        ...herdReadings(herd),
      );
    }
    return readings;
  };
}

function herdReadings(herd: HerdTally): Reading[] {
  const lateness = Object.entries(herd.begun > 0 ? herd.latenessMs() : {});
  return [
    ...lateness.map(([name, ms]) => now(`schedule_lateness_${name}_ms`, ms)),
    now('schedule_started_total', herd.begun),
    now('schedule_enqueued_total', herd.enqueued),
    now('schedule_early_total', herd.early),
    ...(herd.preloadS === undefined ? [] : [now('schedule_preload_s', herd.preloadS)]),
  ];
}

function percentiles(name: string, window: LatencyWindow): Reading[] {
  return Object.entries(window.percentiles()).map(([percentile, value]) => ({
    metric: `${name}_${percentile}_ms`,
    value,
    windowS: WINDOW_S,
  }));
}

function now(metric: string, value: number): Reading {
  return { metric, value, windowS: 0 };
}

async function completions({ settled }: Metrics, types: ReadonlySet<string>): Promise<number> {
  const { values } = await settled.get();
  return values
    .filter(({ labels }) => labels.settle === 'complete' && types.has(String(labels.type)))
    .reduce((sum, { value }) => sum + value, 0);
}
