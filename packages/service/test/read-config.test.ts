import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  ConfigError,
  databaseUrl,
  duration,
  flag,
  logLevel,
  oneOf,
  port,
  readConfig,
  wholeNumber,
} from '../src/index.ts';

const SCHEMA = z.object({
  URL: databaseUrl(),
  OTHER_URL: databaseUrl().optional(),
  TOKEN: z
    .string({ error: 'a token' })
    .min(8, { error: '8 characters or more' })
    .meta({ secret: true })
    .optional(),
  WAIT: duration({ min: '1s', max: '5m', byDefault: '30s' }),
  SIZE: wholeNumber({ min: 1, max: 100, byDefault: 10 }),
  ON: flag(),
  PORT: port(8080),
  COLOUR: oneOf(['red', 'green'], 'red'),
  LOG_LEVEL: logLevel(),
});
const URL = 'postgresql://ada:hunter2@db.test/app';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(SCHEMA, { URL, ...env });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('defaults stand in for what is not set, which is also what is empty or blank', () => {
  const defaults = { URL, WAIT: 30_000, SIZE: 10, ON: false, PORT: 8080, COLOUR: 'red', LOG_LEVEL: 'info' };
  expect(readConfig(SCHEMA, { URL })).toEqual(defaults);
  expect(readConfig(SCHEMA, { URL, WAIT: '', SIZE: '  ', OTHER_URL: '', ON: '\n' })).toEqual(defaults);
});

test('values are read, and what is around them is not', () => {
  const env = { URL, WAIT: ' 2m ', SIZE: '100', ON: 'true', PORT: '0', COLOUR: 'green', LOG_LEVEL: 'silent' };
  expect(readConfig(SCHEMA, env)).toEqual({ ...env, WAIT: 120_000, SIZE: 100, ON: true, PORT: 0 });
});

test('every problem is told at once, a line each', () => {
  const problems = problemsOf({ URL: '', WAIT: '6m', SIZE: '1e1', ON: 'yes', COLOUR: 'blue', PORT: '-1' });
  expect(problems).toEqual([
    'URL: expected a Postgres URL such as postgresql://user:password@host:5432/database, found nothing',
    'WAIT: expected a duration from 1s to 5m, such as "500ms", "30s", "5m", "7d", found "6m"',
    'SIZE: expected a whole number from 1 to 100, found "1e1"',
    'ON: expected 1 or 0, found "yes"',
    'PORT: expected a whole number from 0 to 65535, found "-1"',
    'COLOUR: expected one of red, green, found "blue"',
  ]);
  expect(new ConfigError(problems).message).toBe(problems.join('\n'));
});

test.each([
  ['WAIT', ['0.5s', '-1s', '1', '30', '1w', 'soon', '999ms', '999999999999d']],
  ['SIZE', ['0', '101', '-5', '1.5', '٣', '99999999999', '0x10']],
  ['ON', ['on', 'TRUE', '2']],
  ['LOG_LEVEL', ['INFO', 'verbose']],
])('%s takes nothing of %j', (name, values) => {
  for (const value of values) {
    expect(problemsOf({ [name]: value })).toEqual([
      expect.stringContaining(`found ${JSON.stringify(value)}`),
    ]);
  }
});

test.each([
  'mysql://ada:hunter2@db.test/app',
  'hunter2',
  'postgresql://ada:hunter2@',
  'postgresql://ada:hu/nter2@db/app',
])('no password is shown of %s', (url) => {
  for (const name of ['URL', 'OTHER_URL']) {
    const problems = problemsOf({ [name]: url });
    expect(problems).toEqual([expect.stringContaining(`${name}: expected a Postgres URL`)]);
    expect(problems[0]).not.toMatch(/hunter2|nter2/);
  }
});

test('what is wrong with a URL is told', () => {
  expect(problemsOf({ URL: 'postgresql://ada:hunter2@db.test/app?sslmode=prefer' })).toEqual([
    "URL: expected a Postgres URL such as postgresql://user:password@host:5432/database (The database URL's " +
      'parameter sslmode is "prefer"; allowed: disable, require, verify-ca or verify-full.), ' +
      'found "postgresql://ada:***@db.test/app?sslmode=prefer"',
  ]);
});

test('of a long value the beginning is shown', () => {
  expect(problemsOf({ SIZE: '9'.repeat(100_000) })).toEqual([
    `SIZE: expected a whole number from 1 to 100, found "${'9'.repeat(200)}…"`,
  ]);
});

test('nothing of a secret is shown', () => {
  expect(problemsOf({ TOKEN: 'hunter2' })).toEqual([
    'TOKEN: expected 8 characters or more, found 7 characters that are not shown',
  ]);
});

test('is told on one line, whatever ends a line in it', () => {
  expect(problemsOf({ COLOUR: 'a\nb\rc\u2028d\u2029e' })).toEqual([
    String.raw`COLOUR: expected one of red, green, found "a\nb\rc\u2028d\u2029e"`,
  ]);
});
