/** The limit's producer: one prepared `INSERT … SELECT unnest` for one job and for thousands. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { INSERT_APP_ROW } from '../app-row.ts';
import { PRODUCER_CONNECTIONS, type Payload, type Producer } from '../system.ts';

/** A client, or a pool of them. */
interface Session {
  query(statement: { name: string; text: string; values: unknown[] }): Promise<unknown>;
}

export interface ProducerStatements {
  insert(client: Session, payloads: readonly Payload[]): Promise<void>;
  /** Gives one row with a boolean, `drained`. */
  readonly isDrained: string;
}

export function openLimitProducer(url: string, { insert, isDrained }: ProducerStatements): Producer {
  const pool = new pg.Pool({ connectionString: url, max: PRODUCER_CONNECTIONS });
  return {
    enqueue: (payload) => insert(pool, [payload]),
    enqueueMany: (payloads) => insert(pool, payloads),
    async enqueueInTransaction(payload) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query({ ...INSERT_APP_ROW, values: [randomUUID()] });
        await insert(client, [payload]);
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    async isDrained() {
      const { rows } = await pool.query<{ drained: boolean }>(isDrained);
      return rows[0]?.drained ?? false;
    },
  };
}
