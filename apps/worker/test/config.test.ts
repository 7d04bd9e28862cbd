import { hostname } from 'node:os';
import { ConfigError } from '@fencepost/service';
import { expect, test } from 'vitest';
import { readWorkerConfig } from '../src/config.ts';

const DATABASE_URL = 'postgresql://ada:hunter2@db.test:5432/app';

test('everything but the database has a default', () => {
  const { machine, ...config } = readWorkerConfig({ DATABASE_URL });
  expect(config).toEqual({
    databaseUrl: DATABASE_URL,
    directUrl: undefined,
    concurrency: 10,
    pollIntervalMs: 5_000,
    sweepIntervalMs: 10_000,
    drainTimeoutMs: 50_000,
    retentionMs: 7 * 86_400_000,
    keepCompleted: true,
    healthPort: 8081,
    logLevel: 'info',
    allowPrivateWebhooks: false,
  });
  expect(machine).toBe(hostname());
});

test('settings are taken as they are given', () => {
  const config = readWorkerConfig({
    DATABASE_URL,
    DIRECT_URL: DATABASE_URL,
    CONCURRENCY: '250',
    POLL_INTERVAL: '60s',
    SWEEP_INTERVAL: '1m',
    DRAIN_TIMEOUT: '0s',
    RETENTION: '30d',
    KEEP_COMPLETED: '0',
    HEALTH_PORT: '0',
    LOG_LEVEL: 'debug',
    ALLOW_PRIVATE_WEBHOOKS: '1',
    FLY_MACHINE_ID: 'e286',
  });
  expect(config).toEqual({
    databaseUrl: DATABASE_URL,
    directUrl: DATABASE_URL,
    concurrency: 250,
    pollIntervalMs: 60_000,
    sweepIntervalMs: 60_000,
    drainTimeoutMs: 0,
    retentionMs: 30 * 86_400_000,
    keepCompleted: false,
    healthPort: 0,
    logLevel: 'debug',
    allowPrivateWebhooks: true,
    machine: 'e286',
  });
});

test.each([
  ['DATABASE_URL', '', 'a Postgres URL such as postgresql://user:password@host:5432/database, found nothing'],
  ['DATABASE_URL', 'mysql://ada:hunter2@db.test/app', 'a Postgres URL'],
  ['DIRECT_URL', 'postgresql://ada:hunter2@', 'a Postgres URL'],
  ['CONCURRENCY', '0', 'a whole number from 1 to 1000, found "0"'],
  ['CONCURRENCY', 'many', 'a whole number from 1 to 1000, found "many"'],
  ['POLL_INTERVAL', '61s', 'a duration from 50ms to 60s, such as "500ms", "30s", "5m", "7d", found "61s"'],
  [
    'POLL_INTERVAL',
    '5 seconds',
    'a duration from 50ms to 60s, such as "500ms", "30s", "5m", "7d", found "5 seconds"',
  ],
  ['SWEEP_INTERVAL', '10', 'a duration from 100ms to 10m, such as "500ms", "30s", "5m", "7d", found "10"'],
  ['DRAIN_TIMEOUT', '5m', 'a duration from 0s to 290s, such as "500ms", "30s", "5m", "7d", found "5m"'],
  ['RETENTION', '1s', 'a duration from 1m to 3650d, such as "500ms", "30s", "5m", "7d", found "1s"'],
  ['KEEP_COMPLETED', 'no', '1 or 0, found "no"'],
  ['HEALTH_PORT', '65536', 'a whole number from 0 to 65535, found "65536"'],
  ['LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, fatal, silent, found "loud"'],
  ['ALLOW_PRIVATE_WEBHOOKS', 'maybe', '1 or 0, found "maybe"'],
])('%s=%s is refused in a line', (name, value, line) => {
  const problems = problemsOf({ DATABASE_URL, [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${name}: expected ${line}`);
  expect(problems[0]).not.toContain('hunter2');
  expect(problems[0]).not.toContain('\n');
});

test.each(['', '  '])('FLY_MACHINE_ID=%j is none', (id) => {
  const { machine } = readWorkerConfig({ DATABASE_URL, FLY_MACHINE_ID: id });
  expect(machine).toBe(readWorkerConfig({ DATABASE_URL }).machine);
});

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readWorkerConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
