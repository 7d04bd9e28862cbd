/** The worker, to be put together by an app of one's own as main.ts does it. */
export { createMetrics, type Metrics } from './metrics.ts';
export { startLeaseThread } from './start-lease-thread.ts';
export type { LeaseRenewal } from './lease-messages.ts';
export { startStatusServer, type StatusServer } from './status-server.ts';
export { createWorker, type Worker, type WorkerOptions } from './worker.ts';
