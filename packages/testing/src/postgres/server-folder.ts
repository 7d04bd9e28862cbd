/**
 * The folder of one embedded server: `run-<pid>-<random>` for one that ends with the process, a name of its own for
 * one that is kept. What a killed run left behind is stopped and removed by the next one.
 */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from '../errors.ts';
import { runCommand } from '../run-command.ts';
import type { Identity, Installation } from './installation.ts';

export interface ServerFolder {
  path: string;
  /** Postgres' own data directory. */
  data: string;
  log: string;
  passwordFile: string;
  password: string;
  kept: boolean;
}

/** @param name of a folder that is kept between runs; without it the folder is fresh */
export async function openServerFolder(installation: Installation, name?: string): Promise<ServerFolder> {
  const path = join(
    installation.serversFolder,
    name ?? `run-${process.pid}-${randomBytes(4).toString('hex')}`,
  );
  const data = join(path, 'data');
  await mkdir(path, { recursive: true });
  await giveTo(installation.identity, path);
  if (name) await takeOver(installation, path, data);
  const passwordFile = join(path, 'password');
  const password = await readOrMakePassword(passwordFile, installation.identity);
  return { path, data, log: join(path, 'server.log'), passwordFile, password, kept: name !== undefined };
}

/** Ends the servers of runs that are gone and removes their folders. */
export async function removeAbandonedServers(installation: Installation): Promise<void> {
  const { serversFolder } = installation;
  for (const name of await readdir(serversFolder)) {
    const pid = /^run-(\d+)-/.exec(name)?.[1];
    if (!pid || isAlive(Number(pid))) continue;
    const path = join(serversFolder, name);
    await stopLeftover(installation, join(path, 'data'));
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A kept folder has one user at a time; the server of a user who is gone is stopped. */
async function takeOver(installation: Installation, path: string, data: string): Promise<void> {
  const ownerFile = join(path, 'owner');
  const owner = Number(await readFile(ownerFile, 'utf8').catch(() => '0'));
  if (owner > 0 && owner !== process.pid && isAlive(owner)) {
    throw new EmbeddedPostgresError(
      `the database in ${path} is in use by process ${owner}: stop that one first`,
    );
  }
  await stopLeftover(installation, data);
  await writeFile(ownerFile, String(process.pid));
}

async function stopLeftover({ pgCtl, identity }: Installation, data: string): Promise<void> {
  await runCommand(pgCtl, ['stop', '-D', data, '-m', 'immediate', '-w', '-s'], { ...identity, cwd: '/' });
}

async function readOrMakePassword(file: string, identity: Identity): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept !== '') return kept.trim();
  const password = randomBytes(18).toString('hex');
  await writeFile(file, password, { mode: 0o600 });
  await giveTo(identity, file);
  return password;
}

async function giveTo({ uid, gid }: Identity, path: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
