/** What BullMQ's two stores have in common: its queue and its worker. Its jobs are part of no transaction of the app's. */
import type { Job } from 'bullmq';
import { type Payload, type Producer, type SystemWorker, type WorkerSettings } from './system.ts';

export const QUEUE = 'bench';
const JOB = 'job';

/** For handlers that do nothing. More of it gained nothing. */
const BEST_CONCURRENCY = 100;

export interface AnyQueue {
  add(name: string, data: Payload): Promise<unknown>;
  addBulk(jobs: { name: string; data: Payload }[]): Promise<unknown>;
  getJobCountByTypes(...types: ('waiting' | 'active' | 'delayed' | 'prioritized')[]): Promise<number>;
}

export interface AnyWorker {
  on(event: 'error', listener: (error: Error) => void): unknown;
  run(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}

/** docs.bullmq.io/guide/workers/auto-removal-of-jobs: with the number that stands there. */
export const WORKER_OPTIONS = {
  autorun: false,
  removeOnComplete: { count: 1_000 },
  removeOnFail: { count: 5_000 },
};

export function bullmqProducer(queue: AnyQueue): Producer {
  return {
    async enqueue(payload) {
      await queue.add(JOB, payload);
    },
    async enqueueMany(payloads) {
      await queue.addBulk(payloads.map((data) => ({ name: JOB, data })));
    },
    async isDrained() {
      return (await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized')) === 0;
    },
  };
}

export async function bullmqWorker(
  { handler, concurrency = BEST_CONCURRENCY }: WorkerSettings,
  open: (run: (job: Job<Payload>) => Promise<void>, concurrency: number) => AnyWorker,
): Promise<SystemWorker> {
  const worker = open(async ({ data }) => handler(data), concurrency);
  worker.on('error', (error) => console.error(error));
  await worker.waitUntilReady();
  return {
    async go() {
      void worker.run();
    },
  };
}
