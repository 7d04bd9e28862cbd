/** What fly.toml and the code have to agree on: when a worker is killed, where it answers, and what is started, and how. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { readWorkerConfig } from '../src/config.ts';
import { DRAIN_TAIL_MS } from '../src/drain.ts';

/** What main.ts takes at most to close its connections. */
const CLOSE_MS = 4_000;

const tables = readTables(await readFile(join(repositoryRoot, 'fly.toml'), 'utf8'));
const env = Object.fromEntries(tables['env'] ?? []);
const config = readWorkerConfig({ DATABASE_URL: 'postgresql://user:password@host/database', ...env });

test('a drain has ended before Fly kills the machine', () => {
  expect(value('', 'kill_signal')).toBe('SIGTERM');
  const killTimeoutMs = Number(value('', 'kill_timeout')) * 1_000;
  expect(killTimeoutMs).toBeGreaterThan(config.drainTimeoutMs + DRAIN_TAIL_MS + CLOSE_MS);
  expect(killTimeoutMs).toBeLessThanOrEqual(300_000);
});

test('the checks look where the processes answer', () => {
  expect(Number(value('checks.worker', 'port'))).toBe(config.healthPort);
  expect(Number(value('metrics', 'port'))).toBe(config.healthPort);
  expect(value('checks.worker', 'processes')).toBe('["worker"]');
  expect(value('http_service', 'internal_port')).toBe(env['PORT']);
  expect(value('http_service', 'processes')).toBe('["app"]');
});

test('the processes are what the build makes of each app', () => {
  const commands = [...(tables['processes'] ?? [])];
  expect(commands.map(([group]) => group)).toEqual(['app', 'worker']);
  for (const [, command] of commands) {
    const [, app = ''] = /^node (?:--\S+ )*(apps\/\w+)\/dist\/main\.js$/.exec(command) ?? [];
    expect(existsSync(join(repositoryRoot, app, 'src/main.ts'))).toBe(true);
  }
  expect(existsSync(join(repositoryRoot, value('build', 'dockerfile')))).toBe(true);
});

test('a worker is started with the same options of Node wherever it is started', async () => {
  const options = (text: string) => text.match(/--(max-semi|heap-grow)[\w-]+=\d+/g);
  const optionsIn = async (file: string) => options(await readFile(join(repositoryRoot, file), 'utf8'));
  const ofTheImage = await optionsIn('apps/worker/Dockerfile');
  expect(ofTheImage).toHaveLength(2);
  expect(options(value('processes', 'worker'))).toEqual(ofTheImage);
  expect(await optionsIn('apps/worker/package.json')).toEqual(ofTheImage);
  expect(await optionsIn('packages/bench/src/systems/index.ts')).toEqual(ofTheImage);
});

function value(table: string, key: string): string {
  return tables[table]?.get(key) ?? '';
}

/** The tables of a TOML file that has one `key = value` a line, and strings without escapes. */
function readTables(toml: string): Record<string, Map<string, string>> {
  const found: Record<string, Map<string, string>> = {};
  let table = (found[''] = new Map<string, string>());
  for (const line of toml.split('\n')) {
    const [, header] = /^\s*\[+([\w.]+)\]+$/.exec(line) ?? [];
    const [, key, text] = /^\s*(\w+) = (.+)$/.exec(line) ?? [];
    if (header !== undefined) table = found[header] = new Map<string, string>();
    else if (key !== undefined && text !== undefined) table.set(key, text.replace(/^"(.*)"$/, '$1'));
  }
  return found;
}
