/** Any environment of the worker, and any options of createWorker: within their bounds, or an error that names them. */
import { ConfigError } from '@fencepost/service';
import { handle, InvalidOptionError } from '@fencepost/queue';
import { createPrisma } from '@fencepost/db';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readWorkerConfig } from '../../src/config.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createWorker, type WorkerOptions } from '../../src/worker.ts';
import { testContracts } from '../fixtures/contracts.ts';

const OPTION_RUNS = 60;
const RUNS = 300;
const SECRET = 'marker-that-nobody-is-told';
const GOOD_URL = `postgresql://ada:${SECRET}@db.test/app`;

const junk = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '1',
    '0',
    '-1',
    '٣',
    '1e9',
    '0x10',
    '99999999999999999999',
    'true',
    '5s',
    '5S',
    '5 s',
    '٥s',
    '+5s',
    '0.5s',
    '1d',
    '4000d',
    'Infinity',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constant('x'.repeat(100_000)),
);
const url = fc.oneof(
  { weight: 4, arbitrary: fc.constant(GOOD_URL) },
  fc.constantFrom(`${GOOD_URL}?connect_timeout=99999999`, `postgresql://ada:${SECRET}@`, SECRET),
  junk,
);
const DURATIONS = ['POLL_INTERVAL', 'SWEEP_INTERVAL', 'DRAIN_TIMEOUT', 'RETENTION'] as const;
const NAMES = [
  'DATABASE_URL',
  'DIRECT_URL',
  'CONCURRENCY',
  ...DURATIONS,
  'KEEP_COMPLETED',
  'HEALTH_PORT',
  'LOG_LEVEL',
  'ALLOW_PRIVATE_WEBHOOKS',
  'FLY_MACHINE_ID',
];
const environment = fc.record(
  Object.fromEntries(NAMES.map((name) => [name, name.endsWith('_URL') ? url : junk])),
  { requiredKeys: [] },
);

test('any environment', () => {
  fc.assert(
    fc.property(environment, (env) => {
      let config: ReturnType<typeof readWorkerConfig>;
      try {
        config = readWorkerConfig(env);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        const { problems, message } = error as ConfigError;
        for (const problem of problems)
          expect(problem).toMatch(new RegExp(`^(${NAMES.join('|')}): expected .+, found .+$`));
        expect(problems.length).toBeGreaterThan(0);
        expect(message).not.toContain(SECRET);
        expect(message.length).toBeLessThan(5_000);
        return;
      }
      const {
        concurrency,
        pollIntervalMs,
        sweepIntervalMs,
        drainTimeoutMs,
        retentionMs,
        healthPort,
        keepCompleted,
        machine,
      } = config;
      for (const [value, min, max] of [
        [concurrency, 1, 1_000],
        [pollIntervalMs, 50, 60_000],
        [sweepIntervalMs, 100, 600_000],
        [drainTimeoutMs, 0, 290_000],
        [retentionMs, 60_000, 3_650 * 86_400_000],
        [healthPort, 0, 65_535],
      ] as const) {
        expect(Number.isInteger(value) && value >= min && value <= max).toBe(true);
      }
      expect(typeof keepCompleted).toBe('boolean');
      expect(machine.trim()).not.toBe('');
    }),
    { numRuns: RUNS },
  );
});

const prisma = createPrisma(GOOD_URL);
const { effect } = testContracts();
const good: WorkerOptions = {
  prisma,
  handlers: [handle(effect, async () => {})],
  renewal: () => {
    throw new Error('nothing is started here');
  },
  logger: pino({ level: 'silent' }),
  metrics: createMetrics(),
  workerId: 'fuzz',
  listen: undefined,
  concurrency: 1,
  pollIntervalMs: 1_000,
  sweepIntervalMs: 1_000,
  retentionMs: 1_000,
};
const anyValue = fc.oneof(
  fc.anything(),
  fc.double(),
  fc.integer({ min: -5, max: 70_000 }),
  fc.constantFrom('1', 2 ** 31, 1e15, -0, null),
);

test.each([
  'prisma',
  'handlers',
  'concurrency',
  'pollIntervalMs',
  'sweepIntervalMs',
  'retentionMs',
  'keepCompleted',
  'workerId',
])('any %s of a worker', (field) => {
  expect(() => createWorker(good)).not.toThrow();
  fc.assert(
    fc.property(anyValue, (value) => {
      let taken: unknown;
      try {
        createWorker({ ...good, metrics: createMetrics(), [field]: value });
        taken = value;
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidOptionError);
        expect((error as InvalidOptionError).field).toMatch(new RegExp(`^${field}`));
        return;
      }
      if (field === 'handlers') expect(taken).toEqual([]);
      else if (field === 'workerId') expect(taken).toMatch(/^[^\0]+$/);
      else if (field === 'keepCompleted') expect([true, false, undefined]).toContain(taken);
      else
        expect(Number.isInteger(taken) && (taken as number) >= 0 && (taken as number) < 2 ** 40).toBe(true);
    }),
    { numRuns: OPTION_RUNS },
  );
});

test('a wait that Node would not wait is refused', () => {
  for (const field of ['pollIntervalMs', 'sweepIntervalMs'] as const) {
    for (const ms of [0, 2 ** 31, Number.NaN, Infinity]) {
      expect(() => createWorker({ ...good, [field]: ms })).toThrow(expect.objectContaining({ field }));
    }
  }
});
