/** What the bench asks of its child processes, and what they say by themselves. Everything is JSON. */

export const ENQUEUE_WAYS = [
  'one at a time',
  '20 at once',
  'bulk',
  'transaction',
  '20 transactions',
] as const;
export type EnqueueWay = (typeof ENQUEUE_WAYS)[number];

export interface ProducerCalls {
  install: { argument: object; answer: null };
  withoutWakeUps: { argument: object; answer: null };
  fill: { argument: { jobs: number; payloadBytes: number }; answer: null };
  /** Jobs per second. */
  enqueue: { argument: { way: EnqueueWay; jobs: number }; answer: number };
  /** Enqueues one job after the other, and says when each had committed, by its number. */
  probe: { argument: { probes: number; pauseMs: [number, number] }; answer: number[] };
  /** Enqueues so many a second, in bulk, until `stopLoad`, which says how many it were. */
  startLoad: { argument: { jobsPerSecond: number }; answer: null };
  stopLoad: { argument: object; answer: { jobs: number; seconds: number } };
  /** When nothing was left in the store. */
  untilDrained: { argument: object; answer: number };
}

export interface WorkerCalls {
  /** Connects. `concurrency` is left out for what is best for handlers that do nothing. */
  open: { argument: { handlerMs: number; concurrency?: number }; answer: null };
  go: { argument: object; answer: null };
  /** Bytes. */
  residentMemory: { argument: object; answer: number };
}

export interface ChildCalls {
  producer: ProducerCalls;
  worker: WorkerCalls;
}

export type ChildEvent =
  | { readonly event: 'ready' }
  /** So many handlers have been started so far, the first of them at `firstAt`. */
  | { readonly event: 'starts'; readonly count: number; readonly firstAt: number }
  | { readonly event: 'probe started'; readonly probe: number; readonly at: number };

export type Question = { readonly id: number; readonly name: string; readonly argument: unknown };
export type Answer = { readonly id: number; readonly answer?: unknown; readonly error?: string };
