/** What the soak's judge finds of fenced writes that nobody speaks of, of ends without a reason, and of odd lines. */
import type { LogLine } from '@fencepost/testing';
import { expect, test } from 'vitest';
import * as given from './evidence.ts';
import { COMPLETED, DOOMED, findingsOf, RECLAIMED } from './evidence.ts';

const RULE = 'every fenced write is logged';
const withLines = (name: string, alter: (lines: readonly LogLine[]) => LogLine[]) =>
  findingsOf(({ processes }) => ({
    processes: processes.map((process) =>
      process.name === name ? { ...process, lines: alter(process.lines) } : process,
    ),
  }));
const without = (...fits: ((line: LogLine) => boolean)[]) =>
  withLines('one', (lines) => lines.filter((line) => !fits.some((fit) => fit(line))));

test('a refusal that a handler met and nothing says is found', () => {
  const found = without(
    ({ op, level }) => op === 'complete' && level === 40,
    ({ msg }) => msg === 'soak: counted',
  );
  expect(found).toEqual([
    `${RULE}: one: complete by claim 1 of job ${RECLAIMED} was refused, and nothing says so`,
  ]);
});

test('a settlement that is not in the table and that nothing speaks of is found', () => {
  const found = withLines('one', (lines) => {
    const counted = { level: 30, msg: 'soak: counted', fenced: {}, claimsFailed: 0 };
    return [...lines.filter(({ msg }) => msg === 'soak: run ended'), counted];
  });
  expect(found).toEqual([
    `${RULE}: one: claim 1 of job ${RECLAIMED} ended unsettled, and nothing says so`,
    `a worker that drained leaves no claim behind: one: claim 1 of job ${RECLAIMED}`,
  ]);
});

test('what is said of one job of a claim is not said of the others', () => {
  const found = findingsOf(({ moves }) => ({
    moves: moves.filter(({ job, tokenBefore }) => job !== COMPLETED || tokenBefore === null),
  }));
  expect(found).toContain(`${RULE}: one: claim 1 of job ${COMPLETED} ended unsettled, and nothing says so`);
});

test('of a claim whose answer was lost, its worker is not expected to know', () => {
  const found = withLines('one', (lines) => {
    const counted = { level: 30, msg: 'soak: counted', fenced: {}, claimsFailed: 1 };
    return [...lines.filter(({ id }) => id === COMPLETED), counted];
  });
  expect(found).toEqual([]);
});

test('of a job that its completion deleted, a claim that was lost may say that it completed it', () => {
  const found = (gone: readonly string[]) =>
    findingsOf(({ processes }) => ({
      gone: new Set(gone),
      processes: processes.map((process) => {
        if (process.name !== 'one') return process;
        const lines = process.lines.filter(({ msg }) => msg === 'soak: run ended');
        return {
          ...process,
          lines: [...lines, { level: 20, msg: 'job completed', id: RECLAIMED, claims: 1 }],
        };
      }),
    }));
  expect(found([RECLAIMED])).toEqual([]);
  expect(found([COMPLETED])).toEqual([
    `${RULE}: one: claim 1 of job ${RECLAIMED} ended unsettled, and nothing says so`,
  ]);
});

test('of a worker that was killed, no last word is expected', () => {
  const killed = { exit: { code: null, signal: 'SIGKILL' }, sent: ['SIGKILL'] } as const;
  const found = findingsOf(({ processes }) => ({
    processes: processes.map((process) =>
      process.name === 'one' ? { ...process, ...killed, lines: [given.ended(RECLAIMED, 1)] } : process,
    ),
  }));
  expect(found).toEqual([]);
});

test('a count that differs from what was logged is found', () => {
  const found = without(({ op, level }) => op === 'settle' && level === 40);
  expect(found).toEqual([`${RULE}: one: 1 settle counted, 0 logged`]);
});

test.each([
  [
    'an exit that nobody caused',
    { code: 0, signal: null },
    [],
    'ended with code 0, having been sent nothing',
  ],
  ['a crash', { code: 1, signal: null }, ['SIGTERM'], 'ended with code 1, having been sent SIGTERM'],
  ['a kill by somebody else', { code: null, signal: 'SIGKILL' }, ['SIGTERM'], 'ended with SIGKILL'],
] as const)('%s is found', (_name, exit, sent, why) => {
  const found = findingsOf(({ processes }) => ({
    processes: [...processes, { name: 'four', exit, sent, lines: [] }],
  }));
  expect(found).toEqual([expect.stringContaining(why)]);
});

test('a rejection that nobody awaits is a reason to end, if it is one of the soak', () => {
  const exitFor = (message: string) => {
    const lines = [{ level: 60, msg: 'unhandled rejection', err: { message } }];
    const process = { ...given.worker('four', lines), exit: { code: 1, signal: null } };
    return findingsOf(({ processes }) => ({ processes: [...processes, process] }));
  };
  expect(exitFor('nobody waits for this')).toEqual([]);
  expect(exitFor('a bug')).toHaveLength(2);
});

test.each([
  ['of an unknown message', { level: 50, msg: 'something new' }],
  [
    'of a failure that is none of the database',
    { level: 40, msg: 'statement failed', err: { message: '42703' } },
  ],
  ['that is no log line', { text: 'Warning: possible leak' }],
])('a line %s is found', (_name, line) => {
  const found = withLines('two', (lines) => [...lines, line]);
  expect(found).toEqual([expect.stringContaining('no line is unexpected: two')]);
});

test('lines that faults explain are not found', () => {
  const found = withLines('two', (lines) => [
    ...lines,
    {
      level: 40,
      msg: 'statement failed',
      statement: 'claim',
      err: { message: 'Code: `57P01`. Message: …' },
    },
    { level: 40, msg: 'attempt failed', error: { kind: 'failed', message: 'it always fails' } },
  ]);
  expect(found).toEqual([]);
});

test('a run that was handed back or snoozed, and was charged, is found', () => {
  const found = withLines('two', (lines) => [
    ...lines,
    { level: 30, msg: 'job handed back', id: DOOMED, claims: 1 },
    { level: 30, msg: 'job snoozed', id: DOOMED, claims: 2 },
  ]);
  expect(found).toEqual([
    `what is handed back is not charged: two: job handed back, and claim 1 of job ${DOOMED} was charged`,
    `what is handed back is not charged: two: job snoozed, and claim 2 of job ${DOOMED} was charged`,
  ]);
});
