/**
 * The Postgres of the bench: a server of its own with the settings that Postgres comes with, full durability among them,
 * and a fresh database for every run, copied from one into which the system was installed once.
 */
import { startEmbeddedPostgres } from '@fencepost/testing';
import pg from 'pg';
import { BenchError } from './bench-error.ts';

/** Without one of these, a commit is not what a queue promises. */
const DURABILITY = ['fsync', 'synchronous_commit', 'full_page_writes'];

export interface BenchPostgres {
  readonly version: string;
  /** A fresh database of the system's. `install` is called once a system, with the URL of an empty one. */
  openDatabase(system: string, install: (url: string) => Promise<void>): Promise<Database>;
  stop(): Promise<void>;
}

export interface Database {
  readonly url: string;
  /** After it was filled: statistics as autovacuum makes them, and no checkpoint that is due because of the filling. */
  settle(): Promise<void>;
  drop(): Promise<void>;
}

export async function startPostgres(): Promise<BenchPostgres> {
  const server = await startEmbeddedPostgres();
  const admin = new pg.Client(server.url);
  admin.on('error', () => {});
  try {
    await admin.connect();
    for (const setting of DURABILITY) await assertOn(admin, setting);
    const version = await show(admin, 'server_version');
    const templates = new Map<string, Promise<string>>();
    let opened = 0;
    return {
      version,
      async openDatabase(system, install) {
        const template = templates.get(system) ?? makeTemplate(admin, server.url, system, install);
        templates.set(system, template);
        const name = `run_${(opened += 1)}`;
        await admin.query(`CREATE DATABASE ${name} TEMPLATE "${await template}"`);
        return openDatabase(admin, server.url, name);
      },
      async stop() {
        await admin.end();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function makeTemplate(
  admin: pg.Client,
  serverUrl: string,
  system: string,
  install: (url: string) => Promise<void>,
): Promise<string> {
  const name = `template_${system}`;
  await admin.query(`CREATE DATABASE "${name}"`);
  await install(withDatabase(serverUrl, name));
  return name;
}

function openDatabase(admin: pg.Client, serverUrl: string, name: string): Database {
  const url = withDatabase(serverUrl, name);
  return {
    url,
    async settle() {
      const client = new pg.Client(url);
      await client.connect();
      await client.query('VACUUM (ANALYZE)');
      await client.query('CHECKPOINT');
      await client.end();
    },
    async drop() {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function assertOn(admin: pg.Client, setting: string): Promise<void> {
  const value = await show(admin, setting);
  if (value !== 'on') throw new BenchError(`${setting} is ${value}: what was measured would not be durable`);
}

async function show(admin: pg.Client, setting: string): Promise<string> {
  const { rows } = await admin.query<Record<string, string>>(`SHOW ${setting}`);
  return rows[0]?.[setting] ?? '';
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
