/** All measurements, in the order in which they are run. */
import { claimCost } from './claim-cost/index.ts';
import { drain } from './drain.ts';
import { enqueue } from './enqueue.ts';
import { latency } from './latency.ts';
import type { Measurement } from './measurement.ts';
import { memory } from './memory.ts';

export const measurements: readonly Measurement[] = [drain, enqueue, latency, memory, claimCost];
