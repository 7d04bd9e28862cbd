/** The lean table. Its trigger notifies in every transaction, as is usual. */
export const LEAN_TABLE = `
  CREATE TABLE lean_job (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    state smallint NOT NULL DEFAULT 0,
    token uuid,
    lock_until timestamptz,
    payload jsonb NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX lean_job_waiting ON lean_job (id) WHERE state = 0;

  CREATE FUNCTION lean_job_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('lean_job', '');
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER lean_job_inserted
    AFTER INSERT ON lean_job
    FOR EACH STATEMENT
    EXECUTE FUNCTION lean_job_inserted()`;

export const DROP_LEAN_WAKE_UPS = 'DROP TRIGGER lean_job_inserted ON lean_job';
