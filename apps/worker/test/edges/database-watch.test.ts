/** What the log says of a database that fails for hours: enough to act on, and no flood. */
import { SessionTimeZoneError } from '@fencepost/db';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createBackoff } from '../../src/backoff.ts';
import { DatabaseWatch, type Statement } from '../../src/database-watch.ts';
import { createMetrics } from '../../src/metrics.ts';

const REFUSED = Object.assign(new Error('password authentication failed'), { code: '28P01' });
const READ_ONLY = Object.assign(new Error('cannot execute UPDATE'), { code: '25006' });

/** A clock that only a test moves, and the lines that a logger got. */
function watch() {
  let now = 0;
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const clock = { now: () => now, after: () => () => {} };
  const database = new DatabaseWatch({ clock, logger, metrics: createMetrics() });
  const said = (message: string) => lines.filter(({ msg }) => msg === message);
  return {
    database,
    lines,
    told: () => said('statement failed'),
    recovered: () => said('database answers again'),
    pass(ms: number) {
      now += ms;
    },
  };
}

test('a night of failures gets a line a minute, and each kind of statement one at once', () => {
  const { database, told, pass } = watch();
  const statements: Statement[] = ['claim', 'reclaim', 'renew', 'settle'];
  const seconds = 3_600;
  for (let second = 0; second < seconds; second++) {
    for (const statement of statements) database.failed(statement, REFUSED);
    pass(1_000);
  }
  expect(
    told()
      .slice(0, 4)
      .map(({ statement }) => statement),
  ).toEqual(statements);
  expect(
    told()
      .slice(4, 9)
      .map(({ failingForMs }) => failingForMs),
  ).toEqual([5_000, 15_000, 35_000, 75_000, 135_000]);
  expect(told().length).toBeLessThan(4 + 5 + 60);
  expect(told().length).toBeGreaterThan(55);
  const failures = told().reduce((sum, line) => sum + Number(line['failures']), 0);
  expect(failures).toBeGreaterThan(statements.length * (seconds - 61));
  expect(told()[0]).toMatchObject({ level: 40, fault: 'login_refused', err: { code: '28P01' } });
});

test('its end gets a line, whichever statement finds it', () => {
  const { database, recovered, pass } = watch();
  database.failed('claim', REFUSED);
  pass(3_000);
  database.answered('backlog');
  database.answered('claim');
  expect(recovered()).toMatchObject([
    { statement: 'backlog', faults: ['login_refused'], failedForMs: 3_000 },
  ]);
});

test('a database that answers, and takes no writes, has not recovered', () => {
  const { database, told, recovered, pass } = watch();
  for (let second = 0; second < 60; second++) {
    database.failed('claim', READ_ONLY);
    database.answered('backlog');
    pass(1_000);
  }
  expect(recovered()).toEqual([]);
  expect(told().length).toBeLessThan(7);
  expect(database.claimsFailingForMs()).toBe(60_000);
  expect(database.fault()).toMatchObject({ name: 'read_only' });
  database.answered('claim');
  expect(recovered()).toMatchObject([{ faults: ['read_only'], failedForMs: 60_000 }]);
  expect(database.fault()).toBeUndefined();
});

test('a fault that comes and goes is told no more often than one that stays', () => {
  const { database, lines, pass } = watch();
  for (let second = 0; second < 600; second++) {
    database.failed('claim', REFUSED);
    database.answered('claim');
    pass(1_000);
  }
  // A failure and its end, each time.
  expect(lines.length).toBeLessThan(2 * 16);
});

test('an error without a name is told for its statement, and ends with it', () => {
  const { database, told, recovered } = watch();
  database.failed('settle', new SessionTimeZoneError('Asia/Tokyo'));
  database.answered('claim');
  expect(recovered()).toEqual([]);
  database.answered('settle');
  expect(told()).toMatchObject([{ statement: 'settle', err: { message: expect.stringContaining('Tokyo') } }]);
  expect(recovered()).toHaveLength(1);
});

test('a minute without it makes the next one news', () => {
  const { database, told, pass } = watch();
  for (let count = 0; count < 5; count++) database.failed('claim', REFUSED);
  database.answered('claim');
  pass(61_000);
  database.failed('claim', REFUSED);
  expect(told()).toHaveLength(2);
});

test('waits grow to a ceiling, by chance a half to a whole of it', () => {
  const waits = (random: () => number) => {
    const backoff = createBackoff({ firstMs: 250, maxMs: 10_000 }, random);
    return Array.from({ length: 9 }, () => backoff.next());
  };
  expect(waits(() => 1)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
  expect(waits(() => 0)).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
  expect(new Set(waits(Math.random)).size).toBe(9);
});
