-- The example app: outgoing webhooks.

CREATE TABLE "endpoint" (
  "id" UUID NOT NULL,
  "url" TEXT NOT NULL,
  "secret" TEXT NOT NULL,
  "eventTypes" TEXT[],
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

  CONSTRAINT "endpoint_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "event" (
  "id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "payload" JSONB NOT NULL,
  "idempotencyKey" TEXT,
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

  CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "delivery" (
  "id" UUID NOT NULL,
  "eventId" UUID NOT NULL,
  "endpointId" UUID NOT NULL,
  "jobId" UUID NOT NULL,
  "status" INTEGER,
  "durationMs" INTEGER,
  "deliveredAt" TIMESTAMPTZ(3),
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

  CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "report" (
  "id" UUID NOT NULL,
  "jobId" UUID NOT NULL,
  "rows" INTEGER NOT NULL DEFAULT 0,
  "completedAt" TIMESTAMPTZ(3),
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

  CONSTRAINT "report_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "report_chunk" (
  "reportId" UUID NOT NULL,
  "index" INTEGER NOT NULL,
  "content" TEXT NOT NULL,

  CONSTRAINT "report_chunk_pkey" PRIMARY KEY ("reportId", "index")
);

CREATE UNIQUE INDEX "event_idempotencyKey_key" ON "event" ("idempotencyKey");
CREATE UNIQUE INDEX "delivery_jobId_key" ON "delivery" ("jobId");
CREATE UNIQUE INDEX "delivery_eventId_endpointId_key" ON "delivery" ("eventId", "endpointId");
CREATE UNIQUE INDEX "report_jobId_key" ON "report" ("jobId");

ALTER TABLE "delivery" ADD CONSTRAINT "delivery_eventId_fkey"
  FOREIGN KEY ("eventId") REFERENCES "event" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_endpointId_fkey"
  FOREIGN KEY ("endpointId") REFERENCES "endpoint" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "report_chunk" ADD CONSTRAINT "report_chunk_reportId_fkey"
  FOREIGN KEY ("reportId") REFERENCES "report" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
