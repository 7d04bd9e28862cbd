/** BullMQ 6 on Redis, by ioredis. How durable it is, is a setting of the server: src/redis.ts. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqProducer, bullmqWorker, QUEUE, WORKER_OPTIONS } from './bullmq.ts';
import type { Payload, System } from './system.ts';

export const bullmqOnRedis: System = {
  async openProducer(url) {
    return bullmqProducer(new Queue<Payload>(QUEUE, { connection: new Redis(url) }));
  },
  openWorker: (url, settings) =>
    bullmqWorker(settings, (run, concurrency) => {
      // Its documentation asks for this of every worker's connection.
      const connection = new Redis(url, { maxRetriesPerRequest: null });
      return new Worker<Payload>(QUEUE, run, { ...WORKER_OPTIONS, connection, concurrency });
    }),
};
