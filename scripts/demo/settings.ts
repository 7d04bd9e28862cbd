/** What the demo can be told, by arguments and environment. */
import { parseArgs } from 'node:util';
import { DemoError } from './demo-error.ts';

export interface Settings {
  /** One round, a summary, and an exit code that says whether every event was delivered. */
  once: boolean;
  /** A database to use instead of the embedded one. */
  databaseUrl: string | undefined;
  /** Where the web app is wanted; another port is taken when this one is busy. */
  webPort: number;
  /** Without one the API is open, which only development allows. */
  apiToken: string | undefined;
}

/** @throws DemoError naming the setting, what was found and what is expected */
export function readSettings(argv: string[], env: NodeJS.ProcessEnv): Settings {
  return {
    once: readArguments(argv),
    databaseUrl: env['DATABASE_URL'] || undefined,
    webPort: readPort(env['PORT'] || '3000'),
    apiToken: env['API_TOKEN'] || undefined,
  };
}

function readArguments(argv: string[]): boolean {
  try {
    return parseArgs({ args: argv, options: { once: { type: 'boolean', default: false } } }).values.once;
  } catch {
    throw new DemoError(`unknown arguments: found "${argv.join(' ')}", expected nothing or "--once"`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new DemoError(`PORT is wrong: found "${text}", expected a number from 1 to 65535`);
}
