/** The schema engine's launcher as the CLI uses it: a process that is spoken to in lines of JSON. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../engine/schema-engine.mjs', import.meta.url));

export interface EngineFailure {
  is_panic: boolean;
  message: string;
  error_code: string | null;
}

interface Message {
  id: number | string;
  method?: string;
  params?: { content: string };
  result?: unknown;
  error?: { data: EngineFailure };
}

/** Starts an engine for the database; `end()` it, or it waits for ever. */
export function startEngine(datasource: { url: string; shadowDatabaseUrl?: string }) {
  const child = spawn(launcher, ['--datasource', JSON.stringify(datasource)]);
  const waiting = new Map<number | string, (message: Message) => void>();
  const printed: string[] = [];
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.method === 'print') printed.push(message.params?.content ?? '');
    else waiting.get(message.id)?.(message);
  });
  let requests = 0;

  function request(method: string, params: unknown): Promise<Message> {
    requests += 1;
    const id = requests;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      exited.then(() => reject(new Error(`the engine exited during ${method}`)), reject);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  return {
    /** What the engine asked the CLI to print. */
    printed,
    exited,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    /** The result of a call that must succeed. */
    async call(method: string, params: unknown): Promise<unknown> {
      const { result, error } = await request(method, params);
      if (error) throw new Error(error.data.message);
      return result;
    },
    /** The failure of a call that must fail. */
    async fail(method: string, params: unknown): Promise<EngineFailure> {
      const { result, error } = await request(method, params);
      if (!error) throw new Error(`${method} succeeded: ${JSON.stringify(result)}`);
      return error.data;
    },
    /** Says that nothing more is asked; resolves to the exit code. */
    async end(): Promise<number | null> {
      child.stdin.end();
      return (await exited)[0];
    },
  };
}

/** Runs a one-shot command, `cli can-connect-to-database` or `cli create-database`. */
export async function runEngineCommand(
  url: string,
  command: string,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(launcher, ['--datasource', JSON.stringify({ url }), 'cli', command]);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

const noFilters = { externalTables: [], externalEnums: [] };

/** Migrations by name, as the CLI reads them from their folders. */
function migrationsList(migrations: Record<string, string>) {
  return {
    baseDir: 'prisma/migrations',
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: Object.entries(migrations).map(([path, sql]) => ({
      path,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  };
}

/** Parameters of `applyMigrations`. */
export function applying(migrations: Record<string, string>) {
  return { migrationsList: migrationsList(migrations), filters: noFilters };
}

/** Parameters of a `diff` from migrations, replayed in a shadow database, to a schema. */
export function diffing(migrations: Record<string, string>, schema: string) {
  const files = [
    { path: 'schema.prisma', content: `datasource db {\n  provider = "postgresql"\n}\n${schema}` },
  ];
  return {
    from: { tag: 'migrations', ...migrationsList(migrations) },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: true,
    filters: noFilters,
  };
}
