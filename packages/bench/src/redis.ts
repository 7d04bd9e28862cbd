/**
 * A Redis for each run: a server of its own on a free port, with an append-only file and without snapshots. Debian's
 * redis-server is installed where that can be done; elsewhere it has to be there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, repositoryRoot, runCommand, whenThisProcessIsGone } from '@fencepost/testing';
import { Redis } from 'ioredis';
import { BenchError } from './bench-error.ts';

/** When what was written is made durable: once a second, or before each answer, as a commit of Postgres is. */
export type Fsync = 'everysec' | 'always';

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

const START_MS = 10_000;

/** The version, once there is a redis-server. */
export async function findRedis(): Promise<string> {
  const found = (await redisVersion()) ?? (await install());
  if (found === undefined) {
    throw new BenchError(
      'redis-server is missing and could not be installed (apt-get install redis-server); --systems leaves out what needs it',
    );
  }
  return found;
}

export async function startRedis(fsync: Fsync): Promise<RedisServer> {
  await mkdir(join(repositoryRoot, '.data'), { recursive: true });
  const folder = await mkdtemp(join(repositoryRoot, '.data', 'redis-'));
  const port = await freePort();
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: fsync,
    // docs.bullmq.io/guide/going-to-production: the only policy with which it works correctly.
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const callOffCleanup = whenThisProcessIsGone({ kill: [server.pid ?? 0], remove: [folder] });
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
    callOffCleanup();
  };
  try {
    const url = `redis://127.0.0.1:${port}`;
    await untilAnswers(url);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilAnswers(url: string): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.ping();
      return;
    } catch (cause) {
      if (performance.now() > until) throw new BenchError('redis-server did not start', { cause });
      await sleep(20);
    } finally {
      client.disconnect();
    }
  }
}

async function redisVersion(): Promise<string | undefined> {
  const { output } = await runCommand('redis-server', ['--version']).catch(() => ({ output: '' }));
  return /v=([\d.]+)/.exec(output)?.[1];
}

async function install(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // In runlevel 1 Debian starts no service after its installation.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const script =
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server >/dev/null';
  await runCommand('sh', ['-c', script], { env }).catch(() => {});
  return redisVersion();
}
