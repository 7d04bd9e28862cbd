/** The lines on stdout, by the letter of the contract: one descriptor at the start, then one record a metric and tick. */
import { readdirSync } from 'node:fs';
import manifest from '../adapter.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };

export interface Reading {
  readonly metric: string;
  readonly value: number;
  /** The seconds that the value speaks of; 0 for the present moment. */
  readonly windowS: number;
}

/** Where the migrations of this release stand: the newest of them is the version of the schema. */
const MIGRATIONS = new URL('../../../../db/prisma/migrations/', import.meta.url);

export function writeDescriptor(instance: number, dbName: string): void {
  const { system, event_tables, event_indexes, extensions } = manifest;
  write({
    kind: 'descriptor',
    ...{ system, instance_id: instance, event_tables, event_indexes, extensions },
    version: `fencepost@${packageJson.version}`,
    schema_version: newestMigration(),
    db_name: dbName,
    started_at: new Date().toISOString(),
  });
}

export function writeSamples(instance: number, at: Date, readings: readonly Reading[]): void {
  for (const { metric, value, windowS } of readings) {
    write({
      t: at.toISOString(),
      system: manifest.system,
      instance_id: instance,
      kind: 'adapter',
      subject_kind: 'adapter',
      subject: '',
      ...{ metric, value, window_s: windowS },
    });
  }
}

function newestMigration(): string | undefined {
  const folders = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => name)
    .toSorted()
    .at(-1);
}

function write(record: object): void {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}
