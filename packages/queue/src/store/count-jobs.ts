import type { QueueClient } from '../client.ts';
import type { JobState } from '../core/states.ts';
import { onceMore } from './once-more.ts';

export interface JobCount {
  readonly type: string;
  readonly state: JobState;
  readonly count: number;
}

/** Every job of the table, by type and state. Reads the whole table: for people, not for each scrape of the metrics. */
export async function countJobs(client: QueueClient): Promise<JobCount[]> {
  return onceMore(
    () => client.$queryRaw<JobCount[]>`
    SELECT "type", "state"::text AS "state", count(*)::float8 AS "count"
    FROM "job_queue"
    GROUP BY "type", "state"
    ORDER BY "type", "state"`,
  );
}
