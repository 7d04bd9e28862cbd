/**
 * pg-boss 12 as pgboss.io/api/workers has it for throughput: batches, fetched without a pause while they come back full
 * (`burstWhenBatchFull`), LISTEN/NOTIFY on (`useListenNotify`, and `notify` of the queue), several loops a process
 * (`localConcurrency`). A batch is completed as a whole. Finished jobs are kept for its default of seven days.
 *
 * In the app's own transaction a job is sent by way of the `db` option, pgboss.io/api/jobs.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { createAppTable, execute, INSERT_APP_ROW } from './app-row.ts';
import { PRODUCER_CONNECTIONS, runAll, type Payload, type Producer, type System } from './system.ts';

const QUEUE = 'bench';

/** Where concurrency is given. A batch takes as long as its slowest job and its completion: the more loops, the fewer slots stand empty. */
const LOOPS = 10;

const DRAINED = `
  SELECT NOT EXISTS (
    SELECT FROM pgboss.job WHERE name = '${QUEUE}' AND state < 'completed'
  ) AS drained`;

/** @param point jobs a batch x loops, for handlers that do nothing: `500x4` */
export const pgBoss = (point: string): System => ({
  async install(url) {
    await createAppTable(url);
    const boss = new PgBoss({ connectionString: url });
    await boss.start();
    await boss.createQueue(QUEUE, { notify: true });
    await boss.stop({ graceful: false });
  },

  withoutWakeUps: (url) => execute(url, `UPDATE pgboss.queue SET notify = false WHERE name = '${QUEUE}'`),

  async openProducer(url): Promise<Producer> {
    const boss = new PgBoss({
      connectionString: url,
      max: PRODUCER_CONNECTIONS,
      supervise: false,
      schedule: false,
    });
    boss.on('error', (error) => console.error(error));
    await boss.start();
    const pool = new pg.Pool({ connectionString: url, max: PRODUCER_CONNECTIONS });
    return {
      async enqueue(payload) {
        await boss.send(QUEUE, payload);
      },
      async enqueueMany(payloads) {
        await boss.insert(
          QUEUE,
          payloads.map((data) => ({ data })),
        );
      },
      async enqueueInTransaction(payload) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await client.query({ ...INSERT_APP_ROW, values: [randomUUID()] });
          const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
          await boss.send(QUEUE, payload, { db });
          await client.query('COMMIT');
        } finally {
          client.release();
        }
      },
      async isDrained() {
        const { rows } = await pool.query<{ drained: boolean }>(DRAINED);
        return rows[0]?.drained ?? false;
      },
    };
  },

  async openWorker(url, { handler, concurrency }) {
    const boss = new PgBoss({ connectionString: url, useListenNotify: true });
    boss.on('error', (error) => console.error(error));
    await boss.start();
    const [batchSize = 1, localConcurrency = 1] = concurrency
      ? [Math.max(1, Math.floor(concurrency / LOOPS)), LOOPS]
      : point.split('x').map(Number);
    return {
      async go() {
        await boss.work<Payload>(
          QUEUE,
          { batchSize, localConcurrency, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
          (jobs) =>
            runAll(
              jobs.map(({ data }) => data),
              handler,
            ),
        );
      },
    };
  },
});
