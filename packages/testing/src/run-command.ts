/** Runs one command to its end and keeps what it said: exit codes are the caller's business, not exceptions. */
import { spawn, type SpawnOptions } from 'node:child_process';

export interface CommandResult {
  /** null when a signal ended it. */
  code: number | null;
  /** stdout and stderr in the order in which they came. */
  output: string;
}

/** Rejects only when the command could not be started. */
export function runCommand(file: string, args: string[], options: SpawnOptions = {}): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: string) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}
