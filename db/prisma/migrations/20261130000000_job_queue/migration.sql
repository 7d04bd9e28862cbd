-- Fencepost's table. The statements that work on it are in packages/queue/src/store, one a file.

CREATE TYPE "JobState" AS ENUM ('pending', 'running', 'completed', 'cancelled', 'dead');

-- UUID v7 (RFC 9562) for rows that are inserted without the client library. Postgres has uuidv7() only from 18 on.
-- A random UUID with the first 48 bits replaced by the milliseconds since 1970 and the version set from 4 to 7:
-- set_bit counts from the lowest bit of each byte, so that 52 and 53 are the middle bits of the version's nibble.
CREATE FUNCTION job_queue_uuid_v7() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
  SELECT encode(
    set_bit(
      set_bit(
        overlay(
          uuid_send(gen_random_uuid())
          PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
          FROM 1 FOR 6
        ),
        52, 1
      ),
      53, 1
    ),
    'hex'
  )::uuid
$$;

-- transaction_timestamp() is now(), which Prisma would take for its own: it fills in what it knows as now() by the clock of
-- the client.
CREATE TABLE "job_queue" (
  "id" UUID NOT NULL DEFAULT job_queue_uuid_v7(),
  "type" TEXT NOT NULL,
  "payload" JSONB NOT NULL DEFAULT '{}',
  "state" "JobState" NOT NULL DEFAULT 'pending',
  "priority" SMALLINT NOT NULL DEFAULT 2,
  "runAt" TIMESTAMPTZ(6) NOT NULL DEFAULT transaction_timestamp(),
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "maxAttempts" INTEGER NOT NULL DEFAULT 25,
  "claims" INTEGER NOT NULL DEFAULT 0,
  "crashes" INTEGER NOT NULL DEFAULT 0,
  "maxCrashes" INTEGER NOT NULL DEFAULT 3,
  "claimToken" UUID,
  "lockUntil" TIMESTAMPTZ(6),
  "claimedBy" TEXT,
  "claimedAt" TIMESTAMPTZ(6),
  "retryDelayMs" INTEGER,
  "progress" JSONB,
  "result" JSONB,
  "errors" JSONB NOT NULL DEFAULT '[]',
  "dedupeKey" TEXT,
  "concurrencyKey" TEXT,
  "cancelRequestedAt" TIMESTAMPTZ(6),
  "trace" JSONB,
  "createdAt" TIMESTAMPTZ(6) NOT NULL DEFAULT transaction_timestamp(),
  "updatedAt" TIMESTAMPTZ(6) NOT NULL DEFAULT transaction_timestamp(),
  "finishedAt" TIMESTAMPTZ(6),

  CONSTRAINT "job_queue_pkey" PRIMARY KEY ("id"),

  CONSTRAINT "job_queue_type_named" CHECK ("type" <> ''),
  CONSTRAINT "job_queue_priority_level" CHECK ("priority" BETWEEN 0 AND 3),
  CONSTRAINT "job_queue_attempts_counted" CHECK ("attempts" >= 0 AND "claims" >= 0 AND "crashes" >= 0),
  CONSTRAINT "job_queue_limits" CHECK ("maxAttempts" BETWEEN 1 AND 1000 AND "maxCrashes" BETWEEN 1 AND 1000),
  -- Claims tell how long a job has waited, and time without end is no number.
  CONSTRAINT "job_queue_run_at_finite" CHECK (isfinite("runAt")),
  CONSTRAINT "job_queue_errors_list" CHECK (jsonb_typeof("errors") = 'array'),

  -- A row is running exactly if somebody can be told to stop believing (claimToken), if the sweep can see when
  -- (lockUntil), and if it knows what to do then (retryDelayMs).
  CONSTRAINT "job_queue_running_is_claimed" CHECK (
    ("state" = 'running') = ("claimToken" IS NOT NULL)
    AND ("state" = 'running') = ("lockUntil" IS NOT NULL)
    AND ("state" = 'running') = ("retryDelayMs" IS NOT NULL)
  ),
  CONSTRAINT "job_queue_final_is_finished" CHECK (
    ("state" IN ('completed', 'cancelled', 'dead')) = ("finishedAt" IS NOT NULL)
  )
);

CREATE INDEX "job_queue_due" ON "job_queue" ("type", "priority", "runAt", "id")
  WHERE ("state" = 'pending'::"JobState");

CREATE INDEX "job_queue_lease" ON "job_queue" ("lockUntil")
  WHERE ("state" = 'running'::"JobState");

CREATE INDEX "job_queue_finished" ON "job_queue" ("finishedAt")
  WHERE ("state" = ANY (ARRAY['completed'::"JobState", 'cancelled'::"JobState", 'dead'::"JobState"]));

CREATE UNIQUE INDEX "job_queue_dedupe" ON "job_queue" ("type", "dedupeKey")
  WHERE (("dedupeKey" IS NOT NULL) AND ("state" = ANY (ARRAY['pending'::"JobState", 'running'::"JobState"])));

-- Wakes idle workers: something is due, or will be within the minute. Workers look at the table at least once a
-- minute (POLL_INTERVAL's upper limit), so that what is due later than that is seen in time without a wake-up.
--
-- NOTIFY holds a lock of the whole cluster until its commit is durable: with one in every transaction, commits queue
-- up behind each other (20 connections: a third of the throughput). So only one transaction in flight carries it.
-- Whoever finds the lock taken commits within a moment of the one that has it, and woken workers look again after a
-- few milliseconds and a few tens.
CREATE FUNCTION job_queue_wake() RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
  -- 'job_queue', as hashtext() knows it: a key of the queue's own among the advisory locks of this database.
  IF pg_try_advisory_xact_lock(hashtext('job_queue'), 0) THEN
    PERFORM pg_notify('job_queue', '');
    RETURN true;
  END IF;
  RETURN false;
END
$$;

-- Finds job_queue_wake() whatever the inserting session's search_path: pg_restore, for one, empties it.
CREATE FUNCTION job_queue_inserted() RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  PERFORM job_queue_wake();
  RETURN NULL;
END
$$;

-- Deferred to the commit: the lock above is then held for the length of a commit, not of somebody's transaction, and
-- a wake-up never comes before the row can be seen. WHEN is evaluated as each row goes in and, by a setting that ends
-- with the transaction (or with the savepoint in which the first row was rolled back), keeps all rows but the first
-- out of the queue of deferred events: bulk inserts stay as fast as they are without a trigger.
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
  EXECUTE FUNCTION job_queue_inserted();
