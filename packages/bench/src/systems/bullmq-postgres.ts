/**
 * BullMQ 6 on Postgres, docs.bullmq.io/guide/postgresql: "give each backend enough pool connections (`max`) for its
 * concurrency". Its figures there are of a concurrency of 8 to
 * 32, of which 16 was the best here.
 */
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { bullmqProducer, bullmqWorker, QUEUE, WORKER_OPTIONS } from './bullmq.ts';
import { PRODUCER_CONNECTIONS, type Payload, type System } from './system.ts';

const BEST_CONCURRENCY = 16;
const { Queue, Worker } = withBackend(createPostgresBackend);

export const bullmqOnPostgres: System = {
  async install(url) {
    const client = new pg.Client(url);
    await client.connect();
    await runMigrations(client);
    await client.end();
  },
  async openProducer(url) {
    const connection = { connectionString: url, max: PRODUCER_CONNECTIONS };
    return bullmqProducer(new Queue<Payload>(QUEUE, { connection }));
  },
  openWorker: (url, { handler, concurrency = BEST_CONCURRENCY }) =>
    bullmqWorker({ handler, concurrency }, (run) => {
      const connection = { connectionString: url, max: concurrency };
      return new Worker<Payload>(QUEUE, run, { ...WORKER_OPTIONS, connection, concurrency });
    }),
};
