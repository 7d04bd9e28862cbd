/** The table of schema.prisma, as `prisma db push` makes it. */
export const QUEUE_JOBS = `
  CREATE TABLE "queue_jobs" (
    "id" BIGSERIAL NOT NULL,
    "queue" TEXT NOT NULL,
    "key" TEXT,
    "cron" TEXT,
    "intervalMs" BIGINT,
    "repeatFrom" TEXT,
    "payload" JSONB,
    "result" JSONB,
    "error" JSONB,
    "progress" INTEGER NOT NULL DEFAULT 0,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "maxAttempts" INTEGER,
    "runAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "notBefore" TIMESTAMP(3),
    "finishedAt" TIMESTAMP(3),
    "processedAt" TIMESTAMP(3),
    "failedAt" TIMESTAMP(3),
    "deadLetteredAt" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    CONSTRAINT "queue_jobs_pkey" PRIMARY KEY ("id")
  );
  CREATE UNIQUE INDEX "queue_jobs_queue_key_runAt_key" ON "queue_jobs" ("queue", "key", "runAt");
  CREATE INDEX "queue_jobs_queue_priority_runAt_idx" ON "queue_jobs" ("queue", "priority", "runAt")
    WHERE ("finishedAt" IS NULL)`;
