/**
 * graphile-worker 0.18 with the settings of worker.graphile.org/docs/performance: a local queue of 500, completions and
 * failures batched without a delay, 24 jobs at once on 25 connections. It deletes a job when it is completed.
 *
 * In the app's own transaction jobs are added by its SQL function, as worker.graphile.org/docs/sql-add-job has it.
 */
import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { createAppTable, INSERT_APP_ROW } from './app-row.ts';
import { PRODUCER_CONNECTIONS, type Payload, type Producer, type System } from './system.ts';

const TASK = 'bench';
const BEST_CONCURRENCY = 24;
/** It says what every job did, at the level of information. */
const logger = new Logger(() => () => {});

const ADD_JOB = {
  name: 'bench_add_job',
  text: `SELECT graphile_worker.add_job('${TASK}', $1::json)`,
};

const DRAINED = 'SELECT NOT EXISTS (SELECT FROM graphile_worker._private_jobs) AS drained';

export const graphileWorker: System = {
  async install(url) {
    await createAppTable(url);
    await runMigrations({ connectionString: url, logger });
  },

  async openProducer(url): Promise<Producer> {
    const pool = new pg.Pool({ connectionString: url, max: PRODUCER_CONNECTIONS });
    const utils = await makeWorkerUtils({
      connectionString: url,
      maxPoolSize: PRODUCER_CONNECTIONS,
      logger,
    });
    return {
      async enqueue(payload) {
        await utils.addJob(TASK, payload);
      },
      async enqueueMany(payloads) {
        await utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload })));
      },
      async enqueueInTransaction(payload) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await client.query({ ...INSERT_APP_ROW, values: [randomUUID()] });
          await client.query({ ...ADD_JOB, values: [JSON.stringify(payload)] });
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

  async openWorker(url, { handler, concurrency = BEST_CONCURRENCY }) {
    return {
      async go() {
        await run({
          logger,
          noHandleSignals: true,
          taskList: { [TASK]: (payload) => handler(payload as Payload) },
          // No schedules.
          parsedCronItems: [],
          preset: {
            worker: {
              connectionString: url,
              concurrentJobs: concurrency,
              maxPoolSize: concurrency + 1,
              localQueue: { size: 500 },
              completeJobBatchDelay: 0,
              failJobBatchDelay: 0,
            },
          },
        });
      },
    };
  },
};
