/**
 * The claim on the lean table: the oldest that wait, one token for all of them, a lease. From the last row that was
 * claimed on: before it there are only entries of the index that vacuum has yet to remove.
 */
export const CLAIM_ON_LEAN_TABLE = {
  name: 'limit_lean_claim',
  text: `
    WITH claim AS MATERIALIZED (
      SELECT gen_random_uuid() AS token
    ),
    chosen AS MATERIALIZED (
      SELECT id
      FROM lean_job
      WHERE state = 0
        AND id >= $2::bigint
      ORDER BY id
      LIMIT $1::int
      FOR NO KEY UPDATE SKIP LOCKED
    ),
    claimed AS (
      UPDATE lean_job
      SET
        state = 1,
        token = (SELECT token FROM claim),
        lock_until = now() + interval '30 seconds'
      WHERE id = ANY (ARRAY(SELECT id FROM chosen))
      RETURNING id, payload
    )
    SELECT
      (SELECT token FROM claim) AS token,
      json_agg(id) AS ids,
      json_agg(payload) AS payloads,
      (SELECT json_build_array(max(id)) FROM chosen) AS head
    FROM claimed`,
};
