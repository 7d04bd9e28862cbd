/**
 * One adapter process, started as the harness starts it: through the entrypoint that migrates, samples from its stdout,
 * `ENQUEUE` tokens into its stdin.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { repositoryRoot, whenThisProcessIsGone } from '@fencepost/testing';
import { ScenarioError } from './errors.ts';
import { startPacer, type Pacer } from './pacer.ts';

/** Migrations included, on a machine that is busy. */
const STARTS_WITHIN_MS = 60_000;
const KEPT_LINES = 20;

const COMMAND = [
  join(repositoryRoot, 'apps/worker/start.sh'),
  process.execPath,
  '--conditions=@fencepost/source',
  '--import=tsx',
  fileURLToPath(new URL('../main.ts', import.meta.url)),
];

export type AdapterRecord = Readonly<Record<string, unknown>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Replica {
  readonly pid: number;
  /** Undefined where the adapter keeps its load by itself. */
  readonly pacer: Pacer | undefined;
  readonly exited: Promise<Exit>;
  /** Its last lines on stderr. */
  log(): string;
  signal(signal: NodeJS.Signals): void;
  /** No more tokens, end of file: what the harness does before it sends a signal. */
  closeStdin(): void;
}

export interface ReplicaOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Jobs a second that it is offered on stdin; undefined for none. */
  readonly rate: number | undefined;
  hear(record: AdapterRecord): void;
}

/**
 * Resolves once the replica has described itself.
 * @throws ScenarioError if it has not within a minute, or ended before.
 */
export async function startReplica({ env, rate, hear }: ReplicaOptions): Promise<Replica> {
  const [file, ...args] = COMMAND;
  const child = spawn(file!, args, { cwd: repositoryRoot, env: { ...process.env, ...env } });
  const callOff = whenThisProcessIsGone({ kill: [child.pid ?? -1] });
  const lastLines: string[] = [];
  const log = () => lastLines.join('\n');
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastLines.push(line);
    if (lastLines.length > KEPT_LINES) lastLines.shift();
  });
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      callOff();
      resolve({ code, signal });
    });
  });
  // One that is gone takes no tokens.
  child.stdin.on('error', () => {});

  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new ScenarioError(`the adapter ${why}:\n${log()}`));
    };
    const timer = setTimeout(() => fail('did not describe itself in time'), STARTS_WITHIN_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const record = parse(line);
      if (record?.['kind'] === 'descriptor') {
        clearTimeout(timer);
        resolve();
      }
      if (record !== undefined) hear(record);
    });
    void exited.then(({ code, signal }) => fail(`ended with ${signal ?? code} before it described itself`));
  });

  const pacer = rate === undefined ? undefined : startPacer(child.stdin, rate);
  return {
    pid: child.pid!,
    pacer,
    exited,
    log,
    signal: (signal) => void child.kill(signal),
    closeStdin() {
      pacer?.stop();
      child.stdin.end();
    },
  };
}

function parse(line: string): AdapterRecord | undefined {
  try {
    return JSON.parse(line) as AdapterRecord;
  } catch {
    return undefined;
  }
}
