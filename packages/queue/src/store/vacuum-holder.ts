import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/** What keeps vacuum from removing the entries of jobs that have passed. */
export interface VacuumHolder {
  readonly kind: 'session' | 'standby' | 'prepared_transaction' | 'replication_slot';
  /** The session's or standby's `application_name`, the transaction's `gid`, the slot's name. */
  readonly name: string;
  readonly pid: number | null;
  readonly user: string | null;
  /** Of a session: `active`, `idle in transaction` … Null of another role's, to one that is not in `pg_read_all_stats`. */
  readonly state: string | null;
  /** How long its transaction has been open, where the database tells; to whom it tells the state. */
  readonly openMs: number | null;
  /** The transaction that it may still need to see as unfinished: while this stays the same, it holds back the same. */
  readonly xmin: string;
}

/** The holder of the oldest transaction that vacuum has to keep the rows of this database for, if there is any. */
export async function findVacuumHolder(client: QueueClient): Promise<VacuumHolder | undefined> {
  const [holder] = await onceMore(
    () => client.$queryRaw<VacuumHolder[]>`
    SELECT
      holder."kind",
      holder."name",
      holder."pid",
      holder."user",
      holder."state",
      (extract(epoch FROM clock_timestamp() - holder."since") * 1000)::float8 AS "openMs",
      holder."xmin"::text AS "xmin"
    FROM (
      -- What a walsender holds, it holds for the queries of its standby (hot_standby_feedback).
      SELECT
        CASE WHEN activity.datid IS NULL THEN 'standby' ELSE 'session' END AS "kind",
        activity.application_name AS "name",
        activity.pid AS "pid",
        activity.usename::text AS "user",
        activity.state AS "state",
        activity.xact_start AS "since",
        oldest."xmin" AS "xmin"
      FROM pg_stat_activity AS activity
      CROSS JOIN LATERAL (
        SELECT held."xmin"
        FROM (VALUES (activity.backend_xmin), (activity.backend_xid)) AS held("xmin")
        WHERE held."xmin" IS NOT NULL
        ORDER BY age(held."xmin") DESC
        LIMIT 1
      ) AS oldest
      -- Sessions of other databases do not matter to this one's tables, nor does one vacuum to another. One that has yet
      -- to log in has neither database nor user, and a snapshot all the same.
      WHERE (activity.datname = current_database() OR (activity.datid IS NULL AND activity.usesysid IS NOT NULL))
        AND activity.pid <> pg_backend_pid()
        AND activity.pid NOT IN (SELECT progress.pid FROM pg_stat_progress_vacuum AS progress)
      UNION ALL
      SELECT 'prepared_transaction', gid, NULL, owner::text, NULL, prepared, transaction
      FROM pg_prepared_xacts
      WHERE database = current_database()
      UNION ALL
      SELECT 'replication_slot', slot_name::text, active_pid, NULL, NULL, NULL, xmin
      FROM pg_replication_slots
      WHERE xmin IS NOT NULL
    ) AS holder
    ORDER BY age(holder."xmin") DESC, holder."since"
    LIMIT 1`,
  );
  return holder;
}
