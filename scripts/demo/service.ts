/** One of the two real processes, the built web app or worker, and what it logs. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { repositoryRoot, waitFor, whenThisProcessIsGone } from '@fencepost/testing';
import { DemoError } from './demo-error.ts';

const READY_MS = 30_000;

/** A line of pino's. */
export type LogLine = Record<string, unknown>;

export interface Service {
  /** Settles when the process has ended, with what it ended with. */
  readonly ended: Promise<string>;
  /** SIGTERM: asks it to drain; a second time, to hurry. */
  readonly terminate: () => void;
  readonly kill: () => void;
  /** The last lines that it wrote, whatever they were. */
  readonly lastWords: () => string;
}

export interface ServiceOptions {
  name: 'web' | 'worker';
  env: Record<string, string>;
  /** Answers 200 once the service is there. */
  healthUrl: string;
  onLine?: (line: LogLine) => void;
}

/** @throws DemoError with its last words when it ends instead of answering */
export async function startService({ name, env, healthUrl, onLine }: ServiceOptions): Promise<Service> {
  const child = spawn(process.execPath, ['--enable-source-maps', `apps/${name}/dist/main.js`], {
    cwd: repositoryRoot,
    env: { ...process.env, ...env },
    // A process group of its own: Ctrl-C reaches the whole foreground group, and a second signal would cut the drain short.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const callOffCleanup =
    child.pid === undefined ? () => undefined : whenThisProcessIsGone({ kill: [child.pid] });
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      lastLines.splice(0, lastLines.length - 9);
      lastLines.push(text);
      const line = parseLine(text);
      if (line) onLine?.(line);
    });
  }
  let endedWith: string | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      callOffCleanup();
      endedWith = signal ?? `exit code ${code}`;
      resolve(endedWith);
    });
  });

  const service: Service = {
    ended,
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
    lastWords: () => lastLines.join('\n') || 'it wrote nothing',
  };
  const ready = async () => endedWith !== undefined || (await answers(healthUrl));
  await waitFor(ready, { timeout: READY_MS, interval: 50 }).catch(() => undefined);
  if (endedWith === undefined && (await answers(healthUrl))) return service;
  const how = endedWith ?? `does not answer at ${healthUrl}`;
  service.kill();
  await ended;
  throw new DemoError(`${name} did not start (${how}): ${service.lastWords()}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

function parseLine(text: string): LogLine | undefined {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
}
