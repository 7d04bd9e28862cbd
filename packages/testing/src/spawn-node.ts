/** Runs a TypeScript file from source as a process of its own, for tests in which a process really dies. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { atEndOfTest } from './cleanup.ts';
import { WaitTimeoutError } from './errors.ts';
import { repositoryRoot } from './repository.ts';

/** A line of JSON as logged; any other line as `{ text }`. */
export type LogLine = Record<string, unknown>;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface NodeProcess {
  readonly pid: number;
  /** Everything written to stdout and stderr so far. */
  readonly lines: readonly LogLine[];
  /**
   * The first line that fits, also one that has come already.
   * @throws WaitTimeoutError after `timeout` ms (default 15,000) or once the process has ended without it
   */
  readonly waitForLine: (
    predicate: (line: LogLine) => boolean,
    options?: { timeout?: number },
  ) => Promise<LogLine>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Settles when the process has ended and every line of it is in `lines`. */
  readonly exited: Promise<Exit>;
}

export interface SpawnNodeOptions {
  /** Added to this process's environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  args?: string[];
}

/** Starts `file`; whatever becomes of the test, the process is killed at its end. */
export function spawnNode(file: string, { env = {}, args = [] }: SpawnNodeOptions = {}): NodeProcess {
  const child = spawn(
    process.execPath,
    ['--conditions=@fencepost/source', '--import', 'tsx', '--enable-source-maps', file, ...args],
    { cwd: repositoryRoot, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const lines: LogLine[] = [];
  const watchers = new Set<() => void>();
  const notify = () => watchers.forEach((watcher) => watcher());
  let exit: Exit | undefined;

  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      lines.push(parseLine(text));
      notify();
    });
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      exit = { code, signal };
      resolve(exit);
      notify();
    });
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  atEndOfTest(async () => {
    kill();
    process.off('exit', kill);
    await exited;
  });

  const waitForLine = (predicate: (line: LogLine) => boolean, { timeout = 15_000 } = {}) =>
    new Promise<LogLine>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        watchers.delete(look);
      };
      const fail = (reason: string) => {
        settle();
        reject(
          new WaitTimeoutError(`${reason}: no line of ${file} fits ${String(predicate)}\n${tail(lines)}`),
        );
      };
      const look = () => {
        const line = lines.find(predicate);
        if (line) {
          settle();
          resolve(line);
        } else if (exit) {
          fail(`ended with ${exit.signal ?? `code ${exit.code}`}`);
        }
      };
      const timer = setTimeout(() => fail(`not within ${timeout} ms`), timeout);
      watchers.add(look);
      look();
    });

  return {
    // Missing only when the process could not be started, which `exited` reports.
    pid: child.pid ?? -1,
    lines,
    waitForLine,
    signal: (signal) => void child.kill(signal),
    exited,
  };
}

function parseLine(text: string): LogLine {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as LogLine;
  } catch {
    // Not JSON: a stack trace, a warning of Node's.
  }
  return { text };
}

function tail(lines: LogLine[]): string {
  const shown = lines
    .slice(-20)
    .map((line) => (typeof line['text'] === 'string' ? line['text'] : JSON.stringify(line)));
  return shown.length > 0 ? `its last lines:\n${shown.join('\n')}` : 'it wrote nothing';
}
