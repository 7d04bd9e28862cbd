/** What one replica has done so far, counted and timed. The sampler reads it; producer and handlers write it. */
import { LatencyWindow } from './latency-window.ts';

export class Tally {
  /** Jobs whose enqueue was answered. */
  enqueued = 0;
  /** Jobs that a handler was begun for. */
  started = 0;
  /** What the producer is told to offer, jobs a second. */
  targetRate = 0;
  /** One call of the bulk enqueue. */
  readonly producerCall = new LatencyWindow();
  /** The call divided by its jobs. */
  readonly producer = new LatencyWindow();
  /** From the enqueue to the start of the handler. */
  readonly claim = new LatencyWindow();
  readonly endToEnd = new LatencyWindow();
}
