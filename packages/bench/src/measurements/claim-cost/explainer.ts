/** A client for the queue's statements that has each of them explained, with its values, and carries out none for good. */
import type { QueueClient } from '@fencepost/queue';
import pg, { type ClientBase } from 'pg';

interface Plan {
  readonly 'Execution Time': number;
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

export interface Explainer {
  readonly client: QueueClient;
  /** Of each statement, milliseconds without planning: workers have their statements prepared. */
  readonly times: number[];
  /** Of each statement, from the cache or from disk. */
  readonly pages: number[];
}

/** Plans are made and kept as in the worker's sessions: db/src/pool.ts. */
const FIXED_PLANS = `
  SET plan_cache_mode = force_generic_plan;
  SET enable_seqscan = off;
  SET jit = off`;

export async function openExplainer(session: ClientBase): Promise<Explainer> {
  const times: number[] = [];
  const pages: number[] = [];
  const prepared = new Map<string, string>();
  const refuse = () => Promise.reject(new Error('only claims are explained'));

  /** Under the name that it gives. */
  async function prepare(sql: string): Promise<string> {
    const name = prepared.get(sql) ?? `statement_${prepared.size}`;
    if (!prepared.has(sql)) await session.query(`PREPARE ${name} AS ${sql}`);
    prepared.set(sql, name);
    return name;
  }

  await session.query(FIXED_PLANS);
  return {
    times,
    pages,
    client: {
      async $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]): Promise<T> {
        const name = await prepare(query.reduce((text, part, index) => `${text}$${index}${part}`));
        const execute = `EXECUTE ${name} (${values.map(literal).join(', ')})`;
        const explained = await rolledBack<{ 'QUERY PLAN': Plan[] }>(
          session,
          `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${execute}`,
        );
        for (const { 'Execution Time': ms, Plan: plan } of explained[0]?.['QUERY PLAN'] ?? []) {
          times.push(ms);
          pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
        }
        // For whoever sent it, and reads what it gave.
        return (await rolledBack(session, execute)) as T;
      },
      $executeRaw: refuse,
      jobQueue: { updateMany: refuse },
    },
  };
}

/** EXECUTE takes no parameters from outside. */
function literal(value: unknown): string {
  const text = Array.isArray(value)
    ? `{${value.map((item) => JSON.stringify(String(item))).join(',')}}`
    : value;
  return pg.escapeLiteral(String(text));
}

async function rolledBack<Row extends object>(session: ClientBase, sql: string): Promise<Row[]> {
  await session.query('BEGIN');
  const { rows } = await session.query<Row>(sql);
  await session.query('ROLLBACK');
  return rows;
}
