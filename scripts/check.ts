/**
 * Runs every `check:*` script of package.json, all of them even when one fails, and says at the end which did.
 * The last line counts checks and tests: `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Outcome {
  name: string;
  passed: number;
  failed: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** Written by the script `check:tests`. */
const testReport = join(root, '.data/test-report.json');

const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
await mkdir(join(root, '.data'), { recursive: true });
const outcomes: Outcome[] = [];
for (const [script, command] of Object.entries(scripts)) {
  const [, name] = /^check:(.+)$/.exec(script) ?? [];
  if (name) outcomes.push(await check(name, command));
}
const failed = outcomes.filter((outcome) => outcome.failed > 0);
if (failed.length > 0) console.log(`\nFailed: ${failed.map(({ name }) => name).join(', ')}`);
console.log(`${sum(outcomes, 'passed')} passed, ${sum(outcomes, 'failed')} failed`);
process.exit(failed.length > 0 ? 1 : 0);

async function check(name: string, command: string): Promise<Outcome> {
  const started = performance.now();
  const countsTests = name === 'tests';
  if (countsTests) await rm(testReport, { force: true });
  const { code, output } = await run(command, countsTests);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (code === 0) {
    console.log(`✓ ${name} (${seconds} s)`);
  } else {
    console.log(`${output}\n✗ ${name} (${seconds} s): ${command}`);
  }
  const { passed, failed: failing } = countsTests
    ? await countTests()
    : { passed: code === 0 ? 1 : 0, failed: 0 };
  // A check that fails without a failing test: a file that does not load, an error outside of any test.
  return { name, passed, failed: failing === 0 && code !== 0 ? 1 : failing };
}

/** Output is kept for the case of a failure, except where it is worth watching. */
function run(command: string, watch: boolean): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`;
    const child = spawn(`${command} 2>&1`, {
      cwd: root,
      env: { ...process.env, PATH: path },
      shell: true,
      stdio: ['ignore', watch ? 'inherit' : 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('error', (error) => resolve({ code: null, output: String(error) }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

async function countTests(): Promise<{ passed: number; failed: number }> {
  const report = await readFile(testReport, 'utf8').catch(() => undefined);
  if (report === undefined) return { passed: 0, failed: 0 };
  const { numPassedTests, numFailedTests } = JSON.parse(report) as Record<string, number>;
  return { passed: numPassedTests ?? 0, failed: numFailedTests ?? 0 };
}

function sum(values: Outcome[], key: 'passed' | 'failed'): number {
  return values.reduce((total, value) => total + value[key], 0);
}
