/** Starts a process that cleans up after this one, for the ends that no handler sees (SIGKILL, out of memory). */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Identity } from './postgres/installation.ts';

export interface Aftermath {
  /** Processes to end with SIGKILL. */
  kill?: number[];
  commands?: { file: string; args: string[]; identity: Identity }[];
  /** Folders to remove, after the commands. */
  remove?: string[];
}

const script = fileURLToPath(new URL('./lifeline.mjs', import.meta.url));

/** Returns the function that calls it off, for whoever has cleaned up in the ordinary way. */
export function whenThisProcessIsGone({ kill = [], commands = [], remove = [] }: Aftermath): () => void {
  const child = spawn(process.execPath, [script, JSON.stringify({ kill, commands, remove })], {
    // A session of its own: the Ctrl-C that ends its owner must not end it as well.
    detached: true,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  // Neither may keep this process alive.
  (child.stdin as unknown as { unref(): void }).unref();
  child.stdin.on('error', () => undefined);
  return () => child.kill('SIGKILL');
}
