import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/** What waits, by type. */
export interface Backlog {
  readonly type: string;
  /** Pending and due. */
  readonly due: number;
  /** Pending, for later. */
  readonly scheduled: number;
  /** How long the oldest due job has been due, by the database's clock; 0 where none is. */
  readonly oldestDueMs: number;
}

/** The pending jobs by type: every one of them is read. */
export async function selectBacklog(client: QueueClient): Promise<Backlog[]> {
  return onceMore(
    () => client.$queryRaw<Backlog[]>`
    SELECT
      "type",
      (count(*) FILTER (WHERE "runAt" <= now()))::float8 AS "due",
      (count(*) FILTER (WHERE "runAt" > now()))::float8 AS "scheduled",
      GREATEST(0, extract(epoch FROM now() - min("runAt")) * 1000)::float8 AS "oldestDueMs"
    FROM "job_queue"
    WHERE "state" = 'pending'
    GROUP BY "type"
    ORDER BY "type"`,
  );
}
