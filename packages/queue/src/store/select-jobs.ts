import type { QueueClient } from '../client.ts';
import type { JobState } from '../core/states.ts';
import type { JobRow } from './job-row.ts';
import { onceMore } from './once-more.ts';

export interface JobFilter {
  readonly type: string | null;
  readonly states: readonly JobState[];
  /** Only jobs that were made before this one: where the next page begins. */
  readonly before: string | null;
  readonly limit: number;
}

/** Jobs, the youngest first: ids are UUID v7, so that their order is that of their making. */
export async function selectJobs(client: QueueClient, filter: JobFilter): Promise<JobRow[]> {
  const rows = await onceMore(
    () => client.$queryRaw<{ job: string }[]>`
    SELECT to_jsonb(job)::text AS "job"
    FROM "job_queue" AS job
    WHERE (${filter.type}::text IS NULL OR "type" = ${filter.type}::text)
      AND "state" = ANY (${filter.states}::text[]::"JobState"[])
      AND (${filter.before}::uuid IS NULL OR "id" < ${filter.before}::uuid)
    ORDER BY "id" DESC
    LIMIT ${filter.limit}::int`,
  );
  return rows.map((row) => JSON.parse(row.job) as JobRow);
}
