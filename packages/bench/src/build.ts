/** Fencepost as production runs it: compiled. What has not changed comes from turbo's cache. */
import { delimiter, join } from 'node:path';
import { repositoryRoot, runCommand } from '@fencepost/testing';
import { BenchError } from './bench-error.ts';

export async function build(): Promise<void> {
  const binaries = join(repositoryRoot, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${binaries}${delimiter}${process.env['PATH']}` };
  const args = ['run', 'build', '--filter=@fencepost/worker', '--output-logs=errors-only'];
  const { code, output } = await runCommand('turbo', args, { cwd: repositoryRoot, env });
  if (code !== 0) throw new BenchError(`the build failed:\n${output}`);
}
