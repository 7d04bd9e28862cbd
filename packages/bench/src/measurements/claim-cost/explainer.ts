/** A client for the queue's statements that has each of them explained, with its values, and carries out none for good. */
import type { QueueClient } from '@fencepost/queue';
import type { ClientBase } from 'pg';

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

export function openExplainer(session: ClientBase): Explainer {
  const times: number[] = [];
  const pages: number[] = [];
  const refuse = () => Promise.reject(new Error('only claims are explained'));
  return {
    times,
    pages,
    client: {
      async $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]): Promise<T> {
        const sql = query.reduce((text, part, index) => `${text}$${index}${part}`);
        const explained = await rolledBack<{ 'QUERY PLAN': Plan[] }>(
          session,
          `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${sql}`,
          values,
        );
        for (const { 'Execution Time': ms, Plan: plan } of explained[0]?.['QUERY PLAN'] ?? []) {
          times.push(ms);
          pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
        }
        // For whoever sent it, and reads what it gave.
        return (await rolledBack(session, sql, values)) as T;
      },
      $executeRaw: refuse,
      jobQueue: { updateMany: refuse },
    },
  };
}

async function rolledBack<Row extends object>(
  session: ClientBase,
  sql: string,
  values: unknown[],
): Promise<Row[]> {
  await session.query('BEGIN');
  const { rows } = await session.query<Row>(sql, values);
  await session.query('ROLLBACK');
  return rows;
}
