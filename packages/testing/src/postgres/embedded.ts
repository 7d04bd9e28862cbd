/**
 * A Postgres of one's own from the binaries on npm: for tests on a machine without a database, for tests that restart
 * or configure their server, and for the demo.
 *
 * It is driven through pg_ctl, which gives the server a session of its own: Ctrl-C reaches every process of the
 * terminal's foreground group, and must not take the database away from a worker that still drains.
 */
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError } from '../errors.ts';
import { whenThisProcessIsGone } from '../lifeline.ts';
import { runCommand } from '../run-command.ts';
import { freePort } from './free-port.ts';
import { findInstallation, type Installation } from './installation.ts';
import { openServerFolder, removeAbandonedServers, type ServerFolder } from './server-folder.ts';

/** `fast` ends sessions and writes a checkpoint; `immediate` is a crash, followed by recovery at the next start. */
export type StopMode = 'fast' | 'immediate';

export interface EmbeddedPostgresOptions {
  /** Name of a folder that keeps the data between runs. Without it the data goes with the server. */
  persistent?: string;
  /** Server settings, such as `{ timezone: 'Asia/Tokyo' }`. */
  settings?: Record<string, string | number>;
}

export interface EmbeddedPostgres {
  /** Superuser's URL of the database `postgres`. The port stays the same over restarts. */
  readonly url: string;
  /** Stops the server and keeps its data: an outage, until `resume`. */
  readonly halt: (mode: StopMode) => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly restart: (mode: StopMode) => Promise<void>;
  /** Stops the server for good, and removes its data unless they are persistent. May be called again. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server on a free port of 127.0.0.1. It is stopped when this process ends, in whatever way.
 * @throws EmbeddedPostgresError when there are no binaries for this machine, or the server does not start
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const installation = await findInstallation();
  await removeAbandonedServers(installation);
  const folder = await openServerFolder(installation, options.persistent);
  const callOffCleanup = whenThisProcessIsGone({
    commands: [
      { file: installation.pgCtl, args: stopArguments(folder, 'immediate'), identity: installation.identity },
    ],
    remove: folder.kept ? [] : [folder.path],
  });
  const discard = async () => {
    if (!folder.kept) await rm(folder.path, { recursive: true, force: true, maxRetries: 5 });
    else await rm(join(folder.path, 'owner'), { force: true });
    callOffCleanup();
  };
  const halt = (mode: StopMode) => pgCtl(installation, folder, stopArguments(folder, mode));
  const resume = () => start(installation, folder);

  let port: number;
  try {
    if (!existsSync(folder.data)) await initialise(installation, folder);
    port = await startOnFreePort(installation, folder, options.settings ?? {});
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    url: `postgresql://postgres:${folder.password}@127.0.0.1:${port}/postgres`,
    halt,
    resume,
    restart: async (mode) => {
      await halt(mode);
      await resume();
    },
    stop: async () => {
      if (await isRunning(installation, folder)) await halt(folder.kept ? 'fast' : 'immediate');
      await discard();
    },
  };
}

/** Makes the data directory beside its place and renames it, so that one that exists is complete. */
async function initialise({ initdb, identity }: Installation, folder: ServerFolder): Promise<void> {
  const data = `${folder.data}.new`;
  await rm(data, { recursive: true, force: true });
  const args = [
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${folder.passwordFile}`,
    '--auth=scram-sha-256',
    // The same order of strings on every machine.
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const { code, output } = await runCommand(initdb, args, { ...identity, cwd: '/' });
  if (code !== 0) throw new EmbeddedPostgresError(`initdb failed in ${folder.path}: ${oneLine(output)}`);
  await appendFile(join(data, 'postgresql.conf'), "\ninclude = 'fencepost.conf'\n");
  await rename(data, folder.data);
}

async function startOnFreePort(
  installation: Installation,
  folder: ServerFolder,
  settings: Record<string, string | number>,
): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    await writeSettings(folder, {
      // A socket file in /tmp would outlive a crash.
      unix_socket_directories: '',
      listen_addresses: '127.0.0.1',
      max_connections: 200,
      ...settings,
      port,
    });
    try {
      await start(installation, folder);
      return port;
    } catch (error) {
      const portWasTaken = (error as Error).message.includes('could not bind');
      if (!portWasTaken || tries === 5) throw error;
    }
  }
}

async function writeSettings(folder: ServerFolder, settings: Record<string, string | number>): Promise<void> {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'`,
  );
  await writeFile(join(folder.data, 'fencepost.conf'), `${lines.join('\n')}\n`);
}

async function start(installation: Installation, folder: ServerFolder): Promise<void> {
  await rm(folder.log, { force: true });
  await pgCtl(installation, folder, ['start', '-D', folder.data, '-l', folder.log, '-w', '-t', '60', '-s']);
}

function stopArguments(folder: ServerFolder, mode: StopMode): string[] {
  return ['stop', '-D', folder.data, '-m', mode, '-w', '-t', '60', '-s'];
}

async function isRunning(installation: Installation, folder: ServerFolder): Promise<boolean> {
  const args = ['status', '-D', folder.data];
  return (await runCommand(installation.pgCtl, args, { ...installation.identity, cwd: '/' })).code === 0;
}

async function pgCtl(installation: Installation, folder: ServerFolder, args: string[]): Promise<void> {
  const { code, output } = await runCommand(installation.pgCtl, args, { ...installation.identity, cwd: '/' });
  if (code === 0) return;
  const log = await readFile(folder.log, 'utf8').catch(() => '');
  throw new EmbeddedPostgresError(
    `the embedded Postgres did not ${args[0]}: ${oneLine(`${output}\n${log}`)}`,
  );
}

function oneLine(text: string): string {
  return text.trim().split('\n').slice(-6).join(' | ');
}
