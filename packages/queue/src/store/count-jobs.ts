import type { QueueClient } from '../client.ts';
import type { JobState } from '../core/states.ts';
import { onceMore } from './once-more.ts';

export interface JobCount {
  readonly type: string;
  readonly state: JobState;
  readonly count: number;
}

/** Every job of the table, by type and state: the whole table is read. */
export async function selectCounts(client: QueueClient): Promise<JobCount[]> {
  return onceMore(
    () => client.$queryRaw<JobCount[]>`
    SELECT "type", "state"::text AS "state", count(*)::float8 AS "count"
    FROM "job_queue"
    GROUP BY "type", "state"
    ORDER BY "type", "state"`,
  );
}
