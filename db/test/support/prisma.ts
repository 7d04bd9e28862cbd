/** The Prisma CLI through this package's launcher, as scripts and deployments call it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const packageFolder = fileURLToPath(new URL('../..', import.meta.url));

export interface PrismaRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts `prisma …args`; `url` undefined leaves DATABASE_URL unset. */
export function startPrisma(url: string | undefined, ...args: string[]) {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['engine/prisma.mjs', ...args], {
    cwd: packageFolder,
    env: { ...env, ...(url !== undefined && { DATABASE_URL: url }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const finished = once(child, 'close').then(([code]): PrismaRun => ({
    code: code as number | null,
    stdout,
    stderr,
  }));
  return { signal: (signal: NodeJS.Signals) => child.kill(signal), finished };
}

/** Runs it to its end. */
export function prisma(url: string | undefined, ...args: string[]): Promise<PrismaRun> {
  return startPrisma(url, ...args).finished;
}
