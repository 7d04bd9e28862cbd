/** The row of the app's own that goes with a job in one transaction: the table `event` of Fencepost's example app. */
import pg from 'pg';

const CREATE_APP_TABLE = `
  CREATE TABLE "event" (
    "id" UUID NOT NULL PRIMARY KEY,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "idempotencyKey" TEXT UNIQUE,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp()
  )`;

/** Takes an id. */
export const INSERT_APP_ROW = {
  name: 'bench_app_row',
  text: `INSERT INTO "event" ("id", "type", "payload") VALUES ($1, 'bench', '{}')`,
};

/** For systems whose databases Fencepost's migrations do not make. */
export async function createAppTable(url: string): Promise<void> {
  await execute(url, CREATE_APP_TABLE);
}

/** Statements without parameters, in one session of their own. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
