/** Faults of the database: sessions ended, statements cut short, no space left, and restarts of both kinds. */
import { APP_ROLE } from '../store/tables.ts';
import { pause, type Fault } from './fault.ts';

/** Any session of workers and enqueuer, idle or not; the driver has another role. */
const ANY_SESSION = `
  SELECT pid
  FROM pg_stat_activity
  WHERE usename = '${APP_ROLE}'`;

const END_ALL = `SELECT pg_terminate_backend(pid) FROM (${ANY_SESSION}) AS chosen`;

export const terminate: Fault = {
  kind: 'pg_terminate_backend',
  async inflict({ database }, random) {
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM (${ANY_SESSION} ORDER BY random() LIMIT $1) AS chosen`,
      [random.whole(1, 4)],
    );
  },
};

export const cancelStatements: Fault = {
  kind: 'pg_cancel_backend',
  async inflict({ database }, random) {
    for (let times = random.whole(3, 10); times > 0; times--) {
      await database.query(
        `SELECT pg_cancel_backend(pid) FROM (${ANY_SESSION} AND state = 'active') AS chosen`,
      );
      await pause(random, 10, 100);
    }
  },
};

/** A role's setting is that of its next sessions: they are made to begin, and to end with it. */
export const statementTimeout: Fault = {
  kind: 'statement timeout',
  async inflict({ database }, random) {
    await database.query(`ALTER ROLE ${APP_ROLE} SET statement_timeout = '${random.whole(1, 8)}ms'`);
    await database.query(END_ALL);
    await pause(random, 300, 1_500);
    await database.query(`ALTER ROLE ${APP_ROLE} RESET statement_timeout`);
    await database.query(END_ALL);
  },
};

export const diskFull: Fault = {
  kind: 'disk full',
  async inflict({ database }, random) {
    await database.query('UPDATE soak_switch SET "diskIsFull" = true');
    await pause(random, 200, 2_500);
    await database.query('UPDATE soak_switch SET "diskIsFull" = false');
  },
};

export const restartFast: Fault = {
  kind: 'Postgres restarted fast',
  inflict: ({ database }) => database.restart('fast'),
};

export const restartImmediately: Fault = {
  kind: 'Postgres restarted immediately',
  inflict: ({ database }) => database.restart('immediate'),
};

/** As if the database's clock had jumped ahead: every lease is over, and its run, which is well, goes on. */
export const endLeases: Fault = {
  kind: 'leases ended',
  async inflict({ database }) {
    await database.query(
      `UPDATE job_queue
       SET "lockUntil" = now() - interval '1 hour'
       WHERE id IN (SELECT id FROM job_queue WHERE state = 'running' FOR UPDATE SKIP LOCKED)`,
    );
  },
};
