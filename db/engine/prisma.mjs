#!/usr/bin/env node
/**
 * Runs the Prisma CLI in this package with the schema engine beside this file: `node engine/prisma.mjs migrate deploy`.
 * The CLI asks no server for updates and reports to none.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDatabaseUrl } from './database-url.mjs';

const args = process.argv.slice(2);
const problem = findProblem();
if (problem === undefined) {
  runPrisma();
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

/** What keeps this command from reaching its database, before Prisma says it in ten lines. */
function findProblem() {
  const needsDatabase =
    ['db', 'migrate', 'studio'].includes(args[0] ?? '') && !/^(-h|--help)$/m.test(args.join('\n'));
  if (!needsDatabase) return undefined;
  const url = process.env.DATABASE_URL ?? '';
  if (url === '') {
    return (
      `DATABASE_URL is not set, and "prisma ${args.slice(0, 2).join(' ')}" needs a database; ` +
      'expected postgresql://user:password@host:5432/database'
    );
  }
  try {
    parseDatabaseUrl(url);
    return undefined;
  } catch (error) {
    return `DATABASE_URL is wrong: ${/** @type {Error} */ (error).message}`;
  }
}

function runPrisma() {
  const cli = fileURLToPath(import.meta.resolve('prisma/build/index.js'));
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: fileURLToPath(new URL('./schema-engine.mjs', import.meta.url)),
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
      // The engine's first line asks for any `node`: this one.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
    },
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGTERM'];
  });
}
