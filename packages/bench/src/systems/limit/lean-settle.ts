/** The completion on the lean table, of the jobs of one claim, which have its token. */
export const SETTLE_ON_LEAN_TABLE = {
  name: 'limit_lean_settle',
  text: `
    UPDATE lean_job
    SET
      state = 2,
      token = NULL,
      lock_until = NULL
    WHERE id = ANY ($1::bigint[])
      AND token = $2::uuid`,
};
