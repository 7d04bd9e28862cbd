/**
 * Replaces the empty table of the queue by one that is partitioned by hash, with everything that the migrations give it
 * as far as a partitioned table can have it: a unique index has to hold the partition key. By type, the primary key is of
 * (id, type); by id, there is no index that keeps dedupe keys apart.
 */
import type { Table } from '../table.ts';

export function partitionTable({ by, partitions }: Exclude<Table, 'plain'>): string {
  const key = by === 'id' ? '"id"' : '"id", "type"';
  const numbers = Array.from({ length: partitions }, (_, n) => n);
  return `
    ALTER TABLE "job_queue" RENAME TO "job_queue_plain";
    CREATE TABLE "job_queue" (LIKE "job_queue_plain" INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
      PARTITION BY HASH ("${by}");
    DROP TABLE "job_queue_plain";

    ALTER TABLE "job_queue" ADD CONSTRAINT "job_queue_pkey" PRIMARY KEY (${key});
    CREATE INDEX "job_queue_due" ON "job_queue" ("type", "priority", "runAt", "id")
      WHERE ("state" = 'pending'::"JobState");
    CREATE INDEX "job_queue_lease" ON "job_queue" ("lockUntil")
      WHERE ("state" = 'running'::"JobState");
    CREATE INDEX "job_queue_finished" ON "job_queue" ("finishedAt")
      WHERE ("state" = ANY (ARRAY['completed'::"JobState", 'cancelled'::"JobState", 'dead'::"JobState"]));
    ${by === 'id' ? '' : DEDUPE}

    ${numbers.map((n) => partition(n, partitions)).join('\n')}

    CREATE CONSTRAINT TRIGGER job_queue_inserted
      AFTER INSERT ON "job_queue"
      DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW
      WHEN (
        NEW."state" = 'pending'
        AND NEW."runAt" <= now() + interval '1 minute'
        AND current_setting('job_queue.wake', true) IS DISTINCT FROM 'queued'
        AND set_config('job_queue.wake', 'queued', true) = 'queued'
      )
      EXECUTE FUNCTION job_queue_inserted();`;
}

const DEDUPE = `
    CREATE UNIQUE INDEX "job_queue_dedupe" ON "job_queue" ("type", "dedupeKey")
      WHERE (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])));`;

function partition(n: number, partitions: number): string {
  return `
    CREATE TABLE "job_queue_${n}" PARTITION OF "job_queue" FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${n})
      WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);`;
}
