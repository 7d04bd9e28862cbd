/**
 * What every system that is measured can do, in its own words behind one interface. Nothing here ends: the processes that
 * a system runs in are killed, and its store is thrown away.
 */

/** A job's input. Plain JSON, the same for all. */
export type Payload = {
  readonly n: number;
  /** Its number among the jobs whose latency is measured. */
  readonly probe?: number;
  /** Makes it as long as it is to be. */
  readonly filler?: string;
};

export interface Producer {
  enqueue(payload: Payload): Promise<void>;
  enqueueMany(payloads: readonly Payload[]): Promise<void>;
  /** Together with one row of the app's own. Absent where the job cannot be part of the app's transaction. */
  enqueueInTransaction?(payload: Payload): Promise<void>;
  /** Whether nothing waits, runs, or has run without its settlement being written. */
  isDrained(): Promise<boolean>;
}

/** Sync where it has nothing to wait for, so that the systems are measured and not the promises of the bench. */
export type Handler = (payload: Payload) => void | Promise<void>;

export interface WorkerSettings {
  readonly handler: Handler;
  /** Jobs in flight at once; undefined for what is best for a handler that does nothing. */
  readonly concurrency: number | undefined;
}

export interface SystemWorker {
  /** Begins to take jobs. */
  go(): Promise<void>;
}

export interface System {
  /** Makes its tables in an empty database. Done once: measurements get copies. */
  install?(url: string): Promise<void>;
  /** Nobody is told of new jobs any more. Absent where that cannot be turned off. */
  withoutWakeUps?(url: string): Promise<void>;
  /** Able to enqueue twenty at once. */
  openProducer(url: string): Promise<Producer>;
  openWorker(url: string, settings: WorkerSettings): Promise<SystemWorker>;
}

/** How many connections a producer may have: as many as there are callers at once. */
export const PRODUCER_CONNECTIONS = 20;

/** Runs a batch, all at once. */
export async function runAll(payloads: readonly Payload[], handler: Handler): Promise<void> {
  const running: Promise<void>[] = [];
  for (const payload of payloads) {
    const run = handler(payload);
    if (run) running.push(run);
  }
  if (running.length > 0) await Promise.all(running);
}
