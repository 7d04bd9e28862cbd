/** What an enqueue costs does not grow with the table, also by a plan that was made while the table was empty. */
import { expect, test } from 'vitest';
import { enqueueMany } from '../src/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { newContract } from './fixtures/jobs.ts';

const { newPrisma, connect } = await openDatabase({ plan_cache_mode: 'force_generic_plan' });
const admin = await connect();

/** One of them with a key. */
const jobs = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    payload: { n },
    ...(n === 0 && { dedupeKey: `the first of ${count}` }),
  }));

async function statistics() {
  const { rows } = await admin.query<{ inserts: number; scans: number }>(
    `SELECT n_tup_ins::int AS inserts, seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'job_queue'`,
  );
  return rows[0]!;
}

test('among jobs that have a key, those without one look for no holder', async () => {
  const contract = newContract();
  await admin.query('ALTER TABLE job_queue SET (autovacuum_enabled = off)');
  await admin.query('VACUUM ANALYZE job_queue');
  const { scans } = await statistics();
  const [early, other] = [newPrisma(1), newPrisma(1)];
  // Its statement is planned from here on as for an empty table.
  await enqueueMany(early, contract, jobs(100));
  await enqueueMany(other, contract, jobs(10_000));
  await enqueueMany(early, contract, jobs(101));
  // A session tells of what it did at its end.
  await Promise.all([early.$disconnect(), other.$disconnect()]);
  await expect.poll(async () => (await statistics()).inserts, { timeout: 10_000 }).toBe(10_201);
  // Of each batch the one that has a key.
  expect((await statistics()).scans - scans).toBeLessThanOrEqual(3);
});
