/** The tests, on the binaries of one version: the shared server and every server that a test starts for itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@fencepost/testing';

export interface SuiteResult {
  readonly passed: number;
  /** At least one where a file did not load or the run broke off. */
  readonly failed: number;
  readonly skipped: number;
}

/** @param filters paths of test files, or parts of them; none for all */
export async function runSuite(binaries: string, filters: readonly string[]): Promise<SuiteResult> {
  const report = join(repositoryRoot, '.data/postgres/report.json');
  await mkdir(join(repositoryRoot, '.data/postgres'), { recursive: true });
  await rm(report, { force: true });
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters];
  const child = spawn(process.execPath, [join(repositoryRoot, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: repositoryRoot,
    env: { ...process.env, TEST_DATABASE_URL: '', EMBEDDED_POSTGRES_BINARIES: binaries },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];

  const counts = await readFile(report, 'utf8').catch(() => '{}');
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
  } = JSON.parse(counts) as Record<string, number>;
  const failed = numFailedTests === 0 && code !== 0 ? 1 : numFailedTests;
  return { passed: numPassedTests, failed, skipped: numPendingTests };
}
