/**
 * From a run of tests with a fault in the source to what became of the fault. A test that fails has noticed it; tests
 * that never ran have noticed nothing, whatever the exit code.
 */
import type { TestRun } from './run-tests.ts';

export type Verdict =
  /** Noticed: by which test, and whether that one only saw that something did not come in time. */
  | { readonly verdict: 'killed'; readonly by: string; readonly byTimeout: boolean }
  | { readonly verdict: 'survived' }
  /** Nothing can be said: the tests did not run, or what ran was no program. */
  | { readonly verdict: 'broken'; readonly why: string };

/** As much of vitest's report as is looked at. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export function judge({ exitCode, timedOut, report: text, output }: TestRun): Verdict {
  if (timedOut) return { verdict: 'killed', by: 'the limit of time', byTimeout: true };
  if (text === undefined) return broken(`no report: ${tail(output)}`);
  const report = JSON.parse(text) as Report;

  const failed = report.testResults
    .flatMap((file) => file.assertionResults)
    .find((test) => test.status === 'failed');
  if (failed) {
    const message = failed.failureMessages.join('\n');
    const noProgram = NO_PROGRAM.exec(message);
    if (noProgram) return broken(oneLine(message.slice(noProgram.index)));
    return { verdict: 'killed', by: failed.fullName, byTimeout: TIMED_OUT.test(message) };
  }
  if (report.numFailedTestSuites > 0) {
    const failing = report.testResults.find(({ message }) => message !== '');
    return broken(failing ? `${failing.name}: ${oneLine(failing.message)}` : 'a hook failed');
  }
  if (report.numPassedTests === 0) return broken('no test ran');
  // Vitest's word for a rejection that nobody handled.
  if (exitCode !== 0) return { verdict: 'killed', by: 'an error outside of every test', byTimeout: false };
  return { verdict: 'survived' };
}

/** Names that do not exist, and SQL that Postgres does not take (class 42): any test would notice those. */
const NO_PROGRAM = /ReferenceError: |Raw query failed\. Code: `42/;

/** A test whose time was over has a stack that was made when it was defined; a `waitFor` has an error of its own. */
const TIMED_OUT = /STACK_TRACE_ERROR|WaitTimeoutError/;

function broken(why: string): Verdict {
  return { verdict: 'broken', why };
}

function oneLine(text: string): string {
  return text.trim().split('\n').slice(0, 4).join(' | ');
}

function tail(output: string): string {
  return output.split('\n').slice(-5).join(' | ');
}
