/** A migrated database of its own, and what Postgres says of its `job_queue`. */
import { randomBytes } from 'node:crypto';
import { createPgClient, createPrisma } from '@fencepost/db';
import { migrateDeploy } from '@fencepost/testing';
import { claimJobs, type ClaimRequest } from '../../src/protocol.ts';
import { buffersOf, explaining } from '../../test/fixtures/plans.ts';

export interface Measurement {
  /** Bytes of the table without TOAST, of its TOAST, and of each index by its name without `job_queue_`. */
  readonly heap: number;
  readonly toast: number;
  readonly indexes: Readonly<Record<string, number>>;
  readonly dead: number;
  readonly updates: number;
  readonly hotUpdates: number;
  readonly vacuums: number;
  readonly analyzes: number;
  readonly walBytes: number;
}

export interface Table {
  readonly prisma: ReturnType<typeof createPrisma>;
  readonly execute: (statement: string) => Promise<void>;
  readonly measure: () => Promise<Measurement>;
  /** Pages that a claim of one job touches, in a transaction that is rolled back: mostly those that it looks through. */
  readonly claimPages: (request: ClaimRequest) => Promise<number>;
  /** Drops the database. */
  readonly close: () => Promise<void>;
}

const MEASURE = `
  SELECT
    pg_relation_size('job_queue')::float8 AS heap,
    pg_total_relation_size(reltoastrelid)::float8 AS toast,
    (
      SELECT json_object_agg(replace(indexrelid::regclass::text, 'job_queue_', ''), pg_relation_size(indexrelid))
      FROM pg_index
      WHERE indrelid = 'job_queue'::regclass
    ) AS indexes,
    n_dead_tup::float8 AS dead,
    n_tup_upd::float8 AS updates,
    n_tup_hot_upd::float8 AS "hotUpdates",
    autovacuum_count::float8 AS vacuums,
    autoanalyze_count::float8 AS analyzes,
    (pg_current_wal_lsn() - '0/0')::float8 AS "walBytes"
  FROM pg_stat_user_tables
  JOIN pg_class ON pg_class.oid = relid
  WHERE relid = 'job_queue'::regclass`;

export async function openTable(serverUrl: string): Promise<Table> {
  const name = `bloat_${randomBytes(4).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrateDeploy(url.href);

  const prisma = createPrisma(url.href);
  const connect = async (to = url.href) => {
    const client = createPgClient(to, { applicationName: 'bench', onError: () => {} });
    await client.connect();
    return client;
  };
  const session = await connect();
  const explained = await explaining({ prisma, connect: async () => session }, 'force_custom_plan', {
    run: false,
  });

  return {
    prisma,
    execute: async (statement) => void (await session.query(statement)),
    measure: async () => (await session.query<Measurement>(MEASURE)).rows[0]!,
    claimPages: async (request) => {
      await claimJobs(explained.client, { ...request, capacity: 1 });
      return explained.plans().reduce((sum, plan) => sum + buffersOf(plan), 0);
    },
    close: async () => {
      await prisma.$disconnect();
      await session.end();
      const admin = await connect(serverUrl);
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
