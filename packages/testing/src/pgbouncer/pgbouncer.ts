/**
 * PgBouncer in transaction mode, before a server of the tests: what many a `DATABASE_URL` really leads to. It comes from
 * the system (Debian's package `pgbouncer`), so that a machine may be without it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfTest } from '../cleanup.ts';
import { withConnection } from '../databases/connection.ts';
import { whenThisProcessIsGone } from '../lifeline.ts';
import { freePort } from '../postgres/free-port.ts';
import { unprivilegedUser, type Identity } from '../postgres/installation.ts';
import { runCommand } from '../run-command.ts';
import { waitFor } from '../wait-for.ts';

export interface PgBouncerOptions {
  /** The database behind it. Its user is let in, with the same password. */
  readonly url: string;
  /** Connections to the server, however many clients there are. */
  readonly poolSize: number;
}

export interface PgBouncer {
  /** Through the pooler, and saying so: `?pgbouncer=true`. The port stays the same over restarts. */
  readonly url: string;
  /** Ends it at once, as a crash does, with every connection of its clients. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** Its version, or undefined on a machine without it. */
export async function findPgBouncer(): Promise<string | undefined> {
  const { code, output } = await runCommand(BINARY, ['--version'], { env: ENV }).catch(() => NOT_FOUND);
  return code === 0 ? /^PgBouncer (\S+)/.exec(output)?.[1] : undefined;
}

/** Runs until the end of the test, or of the file. */
export async function startPgBouncer({ url, poolSize }: PgBouncerOptions): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(url);
  // It refuses to run as root.
  const identity = process.getuid?.() === 0 ? await unprivilegedUser() : {};
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'fencepost-pgbouncer-'));
  await chmod(folder, 0o700);
  const config = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    config,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
server_login_retry = 1
`,
  );
  await Promise.all([folder, config, users].map((path) => giveTo(identity, path)));

  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  const plain = through.href;
  through.searchParams.set('pgbouncer', 'true');
  let child: ChildProcess | undefined;
  let callOffCleanup = () => {};
  const kill = async () => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    callOffCleanup();
  };
  const start = async () => {
    child = spawn(BINARY, ['-q', config], { ...identity, env: ENV, cwd: '/', stdio: 'ignore' });
    callOffCleanup = whenThisProcessIsGone({ kill: [child.pid ?? -1], remove: [folder] });
    await waitFor(() => withConnection(plain, (client) => client.query('SELECT 1')), { timeout: 20_000 });
  };
  atEndOfTest(async () => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  });
  await start();
  return { url: through.href, kill, start };
}

const BINARY = 'pgbouncer';
/** Debian puts it where the PATH of ordinary users does not lead. */
const ENV = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
const NOT_FOUND = { code: null, output: '' };

async function giveTo({ uid, gid }: Identity, path: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
