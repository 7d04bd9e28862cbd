/** The enqueue into `job_queue`: the columns of packages/queue/src/store/insert.ts. */
export const INSERT_INTO_OWN_TABLE = {
  name: 'limit_own_insert',
  text: `
    INSERT INTO "job_queue" ("id", "type", "payload", "priority", "runAt", "maxAttempts", "maxCrashes")
    SELECT job."id", 'bench.job', job."payload", 2, now(), 25, 3
    FROM unnest($1::uuid[], $2::jsonb[]) AS job("id", "payload")`,
};
