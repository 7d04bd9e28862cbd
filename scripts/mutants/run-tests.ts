/** Runs vitest in a copy of the repository, in a process group that can be ended as one. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Database } from './database.ts';

export interface TestRequest {
  readonly root: string;
  readonly files: readonly string[];
  /** A pattern for vitest's `-t`. */
  readonly only?: string | undefined;
  /** Whether the first failure is enough. */
  readonly bail: boolean;
  readonly limitMs: number;
  /** Whether its database is made by the migrations of its own copy: a fault may be in them. */
  readonly migrates: boolean;
}

export interface TestRun {
  readonly exitCode: number | null;
  /** Its time was over. */
  readonly timedOut: boolean;
  /** What the JSON reporter wrote; undefined where it did not come to that. */
  readonly report: string | undefined;
  /** What it said otherwise. */
  readonly output: string;
}

/** @throws the signal's reason once it aborts, when everything that was started has ended */
export async function runTests(
  request: TestRequest,
  database: Database,
  signal: AbortSignal,
): Promise<TestRun> {
  signal.throwIfAborted();
  const reportFile = join(request.root, '.data/mutants-report.json');
  await mkdir(dirname(reportFile), { recursive: true });
  await rm(reportFile, { force: true });
  const { exitCode, timedOut, output } = await runVitest(request, reportFile, database, signal);
  signal.throwIfAborted();
  const report = await readFile(reportFile, 'utf8').catch(() => undefined);
  return { exitCode, timedOut, report, output };
}

function runVitest(
  { root, files, only, bail, limitMs, migrates }: TestRequest,
  reportFile: string,
  { url, migrated }: Database,
  signal: AbortSignal,
): Promise<Omit<TestRun, 'report'>> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files],
        ...['--maxWorkers=1', '--reporter=json', `--outputFile=${reportFile}`],
        ...(bail ? ['--bail=1'] : []),
        ...(only === undefined ? [] : [`--testNamePattern=${only}`]),
      ],
      {
        cwd: root,
        env: {
          ...process.env,
          TEST_DATABASE_URL: url,
          NO_COLOR: '1',
          ...(!migrates && { TEST_MIGRATED_DATABASE: migrated }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A group of its own: it ends with all that its tests have started, and not by this terminal's Ctrl-C.
        detached: true,
      },
    );
    let output = '';
    let timedOut = false;
    const collect = (chunk: string) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);

    const endGroup = () =>
      child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL');
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, limitMs);
    signal.addEventListener('abort', endGroup);
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', endGroup);
    };
    child.once('error', (error) => {
      settled();
      reject(error);
    });
    child.once('close', (exitCode) => {
      settled();
      resolve({ exitCode, timedOut, output: output.trim() });
    });
  });
}
