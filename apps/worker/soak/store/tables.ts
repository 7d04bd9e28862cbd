/** The soak's own tables: effects, the app's rows, every move of every job, and the switch of the full disk. */

/** Workers and enqueuer are this role, which the driver is not: what is done to a role is not done to the driver. */
export const APP_ROLE = 'soak_app';

export function soakTables(password: string): string {
  return `
    CREATE TABLE soak_effect (job uuid NOT NULL, fence int NOT NULL);
    CREATE TABLE soak_outside (job uuid NOT NULL, fence int NOT NULL);
    CREATE TABLE soak_order (job uuid NOT NULL);

    CREATE TABLE soak_move (
      seq bigint GENERATED ALWAYS AS IDENTITY,
      job uuid NOT NULL,
      "stateBefore" text NOT NULL,
      "stateAfter" text NOT NULL,
      "tokenBefore" uuid,
      "tokenAfter" uuid,
      "attemptsBefore" int NOT NULL,
      "attemptsAfter" int NOT NULL,
      claims int NOT NULL,
      crashed boolean NOT NULL,
      early boolean NOT NULL,
      "claimedBy" text,
      "by" text NOT NULL,
      tx text NOT NULL DEFAULT txid_current()
    );
    CREATE FUNCTION soak_moved() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO soak_move (
        job, "stateBefore", "stateAfter", "tokenBefore", "tokenAfter", "attemptsBefore", "attemptsAfter", claims,
        crashed, early, "claimedBy", "by"
      )
      VALUES (
        NEW.id, OLD.state, NEW.state, OLD."claimToken", NEW."claimToken", OLD.attempts, NEW.attempts, NEW.claims,
        NEW.crashes > OLD.crashes,
        CASE
          WHEN OLD.state = 'pending' AND NEW.state = 'running' THEN OLD."runAt" > clock_timestamp()
          WHEN NEW.crashes > OLD.crashes THEN OLD."lockUntil" > clock_timestamp()
          ELSE false
        END,
        NEW."claimedBy", current_setting('application_name')
      );
      RETURN NULL;
    END $$;
    CREATE TRIGGER soak_moved
      AFTER UPDATE ON job_queue
      FOR EACH ROW
      WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD."claimToken" IS DISTINCT FROM NEW."claimToken")
      EXECUTE FUNCTION soak_moved();

    -- What a worker that keeps nothing completes: the move, and the row as it would have been kept.
    CREATE TABLE soak_gone (
      id uuid NOT NULL,
      state text NOT NULL,
      attempts int NOT NULL,
      "maxAttempts" int NOT NULL,
      claims int NOT NULL,
      "claimedBy" text,
      "lastError" text
    );
    CREATE FUNCTION soak_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO soak_move (
        job, "stateBefore", "stateAfter", "tokenBefore", "tokenAfter", "attemptsBefore", "attemptsAfter", claims,
        crashed, early, "claimedBy", "by"
      )
      VALUES (
        OLD.id, OLD.state, 'completed', OLD."claimToken", NULL, OLD.attempts, OLD.attempts, OLD.claims,
        false, false, OLD."claimedBy", current_setting('application_name')
      );
      INSERT INTO soak_gone
      VALUES (
        OLD.id, 'completed', OLD.attempts, OLD."maxAttempts", OLD.claims, OLD."claimedBy",
        OLD.errors -> -1 ->> 'message'
      );
      RETURN NULL;
    END $$;
    CREATE TRIGGER soak_deleted
      AFTER DELETE ON job_queue
      FOR EACH ROW
      EXECUTE FUNCTION soak_deleted();

    -- A switch, because a trigger that came and went would have to wait for everybody's locks.
    CREATE TABLE soak_switch ("diskIsFull" boolean NOT NULL);
    INSERT INTO soak_switch VALUES (false);
    CREATE FUNCTION soak_write() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT "diskIsFull" FROM soak_switch) THEN
        RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER soak_write
      BEFORE INSERT OR UPDATE OR DELETE ON job_queue
      FOR EACH STATEMENT
      EXECUTE FUNCTION soak_write();

    CREATE ROLE ${APP_ROLE} LOGIN PASSWORD '${password}';
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${APP_ROLE};`;
}
