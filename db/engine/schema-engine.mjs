#!/usr/bin/env node
/**
 * Prisma's schema engine, as the CLI expects to find it behind PRISMA_SCHEMA_ENGINE_BINARY, run from WebAssembly: no
 * download, and one path on every machine and architecture.
 *
 *     schema-engine.mjs --datamodels FILE… --datasource JSON                     JSON-RPC on stdin and stdout
 *     schema-engine.mjs --datasource JSON cli can-connect-to-database
 *     schema-engine.mjs --datasource JSON cli create-database
 *     schema-engine.mjs --version
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { canConnectToDatabase, createDatabase } from './commands.mjs';
import { createEngine, EngineError } from './engine.mjs';
import { readMigrationTarget } from './migration-target.mjs';
import { serve } from './rpc.mjs';
import { loadSchemaEngine } from './wasm.mjs';

const COMMANDS = new Map([
  ['can-connect-to-database', canConnectToDatabase],
  ['create-database', createDatabase],
]);

// Other arguments may come; they change nothing here.
const { values, positionals } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: {
    datamodels: { type: 'string', multiple: true },
    datasource: { type: 'string' },
    version: { type: 'boolean' },
  },
});

if (values.version) await printVersion();
else if (positionals.includes('cli')) await runCommand(positionals.at(-1) ?? '');
else await answerRequests();

async function printVersion() {
  const { version } = await loadSchemaEngine();
  process.stdout.write(`schema-engine-cli ${version()}\n`);
}

/** @param {string} name */
async function runCommand(name) {
  // The CLI reads every line of stderr after the first as JSON, so nothing else may be said there.
  process.removeAllListeners('warning');
  try {
    const command = COMMANDS.get(name);
    if (command === undefined) throw new EngineError(`The schema engine has no command ${name}.`);
    await command(readTargets().target);
    leave(0);
  } catch (error) {
    const { message, code } = /** @type {EngineError} */ (error);
    const fields = { error_code: code ?? null, message };
    process.stderr.write(
      `\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}\n`,
    );
    leave(1);
  }
}

async function answerRequests() {
  /** @type {ReturnType<typeof createEngine> | undefined} */
  let engine;

  // A first signal, which the CLI also sends when it has no more to ask, lets the command in flight finish: a migration
  // cut short is one that somebody has to resolve by hand. A second one does not wait for it.
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      if (stop.signal.aborted) void (engine?.close() ?? Promise.resolve()).finally(() => leave(1));
      else stop.abort();
    });
  }
  // The CLI may be gone; what it asked for is still done properly.
  process.stdout.on('error', () => {});

  try {
    await serve({
      input: process.stdin,
      signal: stop.signal,
      write: (text) => process.stdout.write(text),
      call: (method, params) => {
        engine ??= createEngine({
          ...readTargets(),
          datamodels: readDatamodels(),
          log: (line) => process.stderr.write(line),
        });
        return engine.call(method, params);
      },
    });
    await engine?.close();
    leave(0);
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).stack}\n`);
    leave(1);
  }
}

/** @returns {[path: string, content: string][]} */
function readDatamodels() {
  return [values.datamodels ?? []].flat().map((path) => [String(path), readFileSync(String(path), 'utf8')]);
}

function readTargets() {
  const { url, shadowDatabaseUrl } = JSON.parse(String(values.datasource ?? '{}'));
  try {
    const target = readMigrationTarget(url ?? '');
    return { target, shadowServer: shadowDatabaseUrl ? readMigrationTarget(shadowDatabaseUrl) : target };
  } catch (error) {
    throw new EngineError(/** @type {DatabaseUrlError} */ (error).message, { code: 'P1013' });
  }
}

/**
 * Ends the process; the engine's timers would keep it alive.
 *
 * @param {number} code
 */
function leave(code) {
  process.stdout.write('', () => process.exit(code));
}

/** @typedef {import('./database-url.mjs').DatabaseUrlError} DatabaseUrlError */
