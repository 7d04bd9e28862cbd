import { describe, expect, test } from 'vitest';
import { judge } from '../../mutants/judge.ts';

interface TestResult {
  readonly fullName: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly failureMessages: readonly string[];
}

const passed: TestResult = { fullName: 'it works', status: 'passed', failureMessages: [] };
const skipped: TestResult = { fullName: 'it waits', status: 'skipped', failureMessages: [] };
const failed = (message: string): TestResult => ({
  fullName: 'it fails',
  status: 'failed',
  failureMessages: [message],
});

/** As vitest writes it. */
function report(tests: readonly TestResult[], { failedSuites = 0, message = '' } = {}): string {
  const count = (status: string) => tests.filter((one) => one.status === status).length;
  return JSON.stringify({
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numFailedTestSuites: failedSuites,
    testResults: [{ name: '/copy/a.test.ts', message, assertionResults: tests }],
  });
}

const run = (text: string | undefined, exitCode: number | null, output = '') =>
  judge({ exitCode, timedOut: false, report: text, output });

describe('a fault is killed', () => {
  test('by a test that fails', () => {
    expect(
      run(report([passed, failed('AssertionError: expected 1 to be 2')], { failedSuites: 1 }), 1),
    ).toEqual({
      verdict: 'killed',
      by: 'it fails',
      byTimeout: false,
    });
  });

  test.each(['Error: STACK_TRACE_ERROR\n    at task', 'WaitTimeoutError: not true after 10000 ms'])(
    'by a test that waited in vain, which is said: %s',
    (message) => {
      expect(run(report([failed(message)]), 1)).toMatchObject({ verdict: 'killed', byTimeout: true });
    },
  );

  test('by a hang of everything', () => {
    expect(judge({ exitCode: null, timedOut: true, report: undefined, output: '' })).toEqual({
      verdict: 'killed',
      by: 'the limit of time',
      byTimeout: true,
    });
  });

  test('by an error that belongs to no test, as an unhandled rejection does', () => {
    expect(run(report([passed]), 1)).toMatchObject({
      verdict: 'killed',
      by: 'an error outside of every test',
    });
  });
});

test('a fault that leaves every test green has survived', () => {
  expect(run(report([passed, skipped]), 0)).toEqual({ verdict: 'survived' });
});

describe('nothing can be said', () => {
  test('where the tests did not even start', () => {
    expect(run(undefined, 1, 'one\ntwo\nno server')).toEqual({
      verdict: 'broken',
      why: 'no report: one | two | no server',
    });
  });

  test('where a file could not be loaded', () => {
    const text = report([], { failedSuites: 1, message: 'Transform failed\nsyntax error' });
    expect(run(text, 1)).toEqual({
      verdict: 'broken',
      why: '/copy/a.test.ts: Transform failed | syntax error',
    });
  });

  test('where a hook failed before the tests', () => {
    expect(run(report([skipped], { failedSuites: 2 }), 1)).toEqual({
      verdict: 'broken',
      why: 'a hook failed',
    });
  });

  test('where no test has a name that fits', () => {
    expect(run(report([skipped, skipped]), 0)).toEqual({ verdict: 'broken', why: 'no test ran' });
  });

  test.each([
    'ReferenceError: chosen is not defined',
    'Raw query failed. Code: `42601`. Message: `syntax error`',
  ])('where what ran was no program: %s', (message) => {
    expect(run(report([failed(`Error: in the handler\n${message}`)], { failedSuites: 1 }), 1)).toEqual({
      verdict: 'broken',
      why: message,
    });
  });
});
