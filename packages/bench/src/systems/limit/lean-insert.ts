/** The enqueue into the lean table. */
export const INSERT_INTO_LEAN_TABLE = {
  name: 'limit_lean_insert',
  text: `
    INSERT INTO lean_job (payload)
    SELECT unnest($1::jsonb[])`,
};
