/** What the harness says in the environment, by the names of its contract. Unset, each is what the contract says. */
import { databaseUrl, oneOf, readConfig, wholeNumber } from '@fencepost/service';
import { z } from 'zod';

const SETTINGS = z.object({
  DATABASE_URL: databaseUrl(),
  SCENARIO: oneOf(['long_horizon'], 'long_horizon'),
  /** Which of the replicas this is. The first one also reports what is common to all of them. */
  BENCH_INSTANCE_ID: wholeNumber({ min: 0, max: 10_000, byDefault: 0 }),
  SAMPLE_EVERY_S: wholeNumber({ min: 1, max: 3_600, byDefault: 5 }),

  PRODUCER_MODE: oneOf(['fixed', 'depth-target'], 'fixed'),
  /** `harness`: what to enqueue comes as `ENQUEUE <n>` on stdin. The harness sets it; run by hand, there is no such line. */
  PRODUCER_PACING: oneOf(['harness', 'adapter'], 'adapter'),
  PRODUCER_RATE: wholeNumber({ min: 0, max: 10_000_000, byDefault: 800 }),
  PRODUCER_RATE_CONTROL_FILE: z.string().optional(),
  PRODUCER_BATCH_MAX: wholeNumber({ min: 1, max: 10_000, byDefault: 128 }),
  PRODUCER_BATCH_MS: wholeNumber({ min: 1, max: 60_000, byDefault: 25 }),
  TARGET_DEPTH: wholeNumber({ min: 0, max: 10_000_000, byDefault: 1_000 }),

  WORKER_COUNT: wholeNumber({ min: 1, max: 1_000, byDefault: 32 }),
  BENCH_QUEUE_COUNT: wholeNumber({ min: 1, max: 1_000, byDefault: 1 }),
  JOB_WORK_MS: wholeNumber({ min: 0, max: 600_000, byDefault: 1 }),
  JOB_PAYLOAD_BYTES: wholeNumber({ min: 0, max: 250_000, byDefault: 256 }),
  JOB_PAYLOAD_KIND: oneOf(['plain', 'random'], 'plain'),
  /** 0: what the library does by itself. */
  JOB_MAX_ATTEMPTS: wholeNumber({ min: 0, max: 1_000, byDefault: 0 }),

  CONSUMER_GATE_FILE: z.string().optional(),
  JOB_FAILURE_CONTROL_FILE: z.string().optional(),
  SCHEDULE_CONTROL_FILE: z.string().optional(),
});

export type AdapterConfig = ReturnType<typeof readAdapterConfig>;

/** @throws ConfigError */
export function readAdapterConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readConfig(SETTINGS, env);
  return {
    databaseUrl: settings.DATABASE_URL,
    instance: settings.BENCH_INSTANCE_ID,
    sampleEveryS: settings.SAMPLE_EVERY_S,
    producerMode: settings.PRODUCER_MODE,
    pacing: settings.PRODUCER_PACING,
    rate: settings.PRODUCER_RATE,
    rateFile: settings.PRODUCER_RATE_CONTROL_FILE,
    batchMax: settings.PRODUCER_BATCH_MAX,
    batchMs: settings.PRODUCER_BATCH_MS,
    targetDepth: settings.TARGET_DEPTH,
    workers: settings.WORKER_COUNT,
    queues: settings.BENCH_QUEUE_COUNT,
    workMs: settings.JOB_WORK_MS,
    payloadBytes: settings.JOB_PAYLOAD_BYTES,
    payloadKind: settings.JOB_PAYLOAD_KIND,
    maxAttempts: settings.JOB_MAX_ATTEMPTS || undefined,
    gateFile: settings.CONSUMER_GATE_FILE,
    failureFile: settings.JOB_FAILURE_CONTROL_FILE,
    scheduleFile: settings.SCHEDULE_CONTROL_FILE,
  };
}
