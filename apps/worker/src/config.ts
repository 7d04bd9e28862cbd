/** The worker's settings, all of them, from the environment. docs/operations.md lists them. */
import { hostname } from 'node:os';
import { databaseUrl, duration, flag, logLevel, port, readConfig, wholeNumber } from '@fencepost/service';
import { z } from 'zod';

const SETTINGS = z.object({
  DATABASE_URL: databaseUrl(),
  /** A way to the same database that is no transaction pooler: for LISTEN. */
  DIRECT_URL: databaseUrl().optional(),
  /** Jobs in flight at once. */
  CONCURRENCY: wholeNumber({ min: 1, max: 1_000, byDefault: 10 }),
  /**
   * The longest sleep of an idle worker. At most a minute: the trigger wakes workers for what is due within the minute,
   * and relies on them to see the rest by themselves.
   */
  POLL_INTERVAL: duration({ min: '50ms', max: '60s', byDefault: '5s' }),
  SWEEP_INTERVAL: duration({ min: '100ms', max: '10m', byDefault: '10s' }),
  /** How long a drain waits for runs; it may take five seconds longer, and Fly's kill_timeout must be longer still. */
  DRAIN_TIMEOUT: duration({ min: '0s', max: '290s', byDefault: '50s' }),
  /** How long finished jobs are kept. */
  RETENTION: duration({ min: '1m', max: '3650d', byDefault: '7d' }),
  /** Whether completed jobs are among them, or deleted by their completion. */
  KEEP_COMPLETED: flag({ byDefault: true }),
  HEALTH_PORT: port(8081),
  LOG_LEVEL: logLevel(),
  /** Webhooks to private and loopback addresses: for development. */
  ALLOW_PRIVATE_WEBHOOKS: flag(),
  /** Set by Fly. */
  FLY_MACHINE_ID: z.string().optional(),
});

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws ConfigError */
export function readWorkerConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readConfig(SETTINGS, env);
  return {
    databaseUrl: settings.DATABASE_URL,
    directUrl: settings.DIRECT_URL,
    concurrency: settings.CONCURRENCY,
    pollIntervalMs: settings.POLL_INTERVAL,
    sweepIntervalMs: settings.SWEEP_INTERVAL,
    drainTimeoutMs: settings.DRAIN_TIMEOUT,
    retentionMs: settings.RETENTION,
    keepCompleted: settings.KEEP_COMPLETED,
    healthPort: settings.HEALTH_PORT,
    logLevel: settings.LOG_LEVEL,
    allowPrivateWebhooks: settings.ALLOW_PRIVATE_WEBHOOKS,
    /** Who this is, for people: the machine's name on Fly, the host's elsewhere. */
    machine: settings.FLY_MACHINE_ID ?? hostname(),
  };
}
