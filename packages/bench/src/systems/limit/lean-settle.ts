/** The completion on the lean table, each row matched with its own token; IS TRUE keeps the match from becoming a join. */
export const SETTLE_ON_LEAN_TABLE = {
  name: 'limit_lean_settle',
  text: `
    UPDATE lean_job
    SET
      state = 2,
      token = NULL,
      lock_until = NULL
    WHERE id = ANY ($1::bigint[])
      AND ((id, token) IN (SELECT * FROM unnest($1::bigint[], $2::uuid[]))) IS TRUE`,
};
