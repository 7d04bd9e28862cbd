import type { QueueClient } from '../client.ts';
import type { JobRow } from './job-row.ts';
import { onceMore } from './once-more.ts';

/** A job by id. */
export async function selectJob(client: QueueClient, id: string): Promise<JobRow | undefined> {
  const [row] = await onceMore(
    () => client.$queryRaw<{ job: string }[]>`
    SELECT to_jsonb(job)::text AS "job"
    FROM "job_queue" AS job
    WHERE "id" = ${id}::uuid`,
  );
  return row && (JSON.parse(row.job) as JobRow);
}
