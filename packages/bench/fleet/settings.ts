/** What the bench can be told by its arguments. */
import { parseArgs } from 'node:util';
import { SettingsError } from './errors.ts';
import { parseTable, type Table } from './table.ts';

export interface FleetSettings {
  /** The sizes of the fleets, one after the other. */
  readonly workers: readonly number[];
  /** Jobs in flight at once, of each worker. */
  readonly slots: number;
  /** Jobs a second for each worker. */
  readonly rate: number;
  /** How long a fleet is looked at, idle and under load. */
  readonly seconds: number;
  /** Processes that the workers are dealt out over. */
  readonly processes: number;
  /** Connections of each worker for the queue. */
  readonly pool: number;
  /** Connections to the server behind PgBouncer; undefined for none of it. */
  readonly pooler: number | undefined;
  /** Of the server, beside its defaults. */
  readonly server: Readonly<Record<string, string>>;
  readonly table: Table;
  /** Where the results are written; undefined for nowhere. */
  readonly json: string | undefined;
}

const OPTIONS = {
  workers: { type: 'string', default: '1,10,50' },
  slots: { type: 'string', default: '10' },
  rate: { type: 'string', default: '2' },
  seconds: { type: 'string', default: '30' },
  processes: { type: 'string', default: '4' },
  pool: { type: 'string', default: '6' },
  pooler: { type: 'string' },
  set: { type: 'string', multiple: true },
  table: { type: 'string', default: 'plain' },
  json: { type: 'string' },
} as const;

/** @throws SettingsError naming the argument, what was found and what is expected. */
export function readSettings(argv: string[]): FleetSettings {
  const found = read(argv);
  return {
    workers: found.workers.split(',').map((part) => wholeNumber('--workers', part, 1, 1_000)),
    slots: wholeNumber('--slots', found.slots, 1, 1_000),
    rate: positive('--rate', found.rate),
    seconds: wholeNumber('--seconds', found.seconds, 2, 3_600),
    processes: wholeNumber('--processes', found.processes, 1, 100),
    pool: wholeNumber('--pool', found.pool, 1, 20),
    pooler: found.pooler === undefined ? undefined : wholeNumber('--pooler', found.pooler, 1, 500),
    server: Object.fromEntries((found.set ?? []).map(serverSetting)),
    table: parseTable(found.table),
    json: found.json,
  };
}

function read(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: OPTIONS }).values;
  } catch {
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw new SettingsError(`unknown arguments: found "${argv.join(' ')}", expected ${known.join(', ')}`);
  }
}

function serverSetting(text: string): [string, string] {
  const [, name, value] = /^([\w.]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new SettingsError(`--set: expected name=value, found "${text}"`);
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new SettingsError(`${name}: expected a whole number from ${min} to ${max}, found "${text}"`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (/^[\d.]+$/.test(text) && value > 0) return value;
  throw new SettingsError(`${name}: expected a number above 0, found "${text}"`);
}
