/**
 * Fleets of workers against one Postgres, one after the other, each on a server of its own:
 *
 *     npm run bench:fleet -- [--workers 1,10,50] [--slots 10] [--rate 2] [--seconds 30] [--set name=value] [--json file]
 *
 * README.md has all of its arguments, and what is measured.
 */
import { writeFile } from 'node:fs/promises';
import { EmbeddedPostgresError } from '@fencepost/testing';
import { FleetError, SettingsError } from './errors.ts';
import { measureFleet, type FleetResult } from './measure-fleet.ts';
import { report } from './report.ts';
import { readSettings } from './settings.ts';

// By way of `exit`: the workers and the server of a run that is cut short go by themselves.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const settings = readSettings(process.argv.slice(2));
  const results: FleetResult[] = [];
  for (const workers of settings.workers) {
    console.error(`${workers} workers …`);
    const result = await measureFleet(workers, settings);
    if (result.log !== '') console.error(result.log);
    results.push(result);
    if (settings.json !== undefined) {
      await writeFile(settings.json, `${JSON.stringify({ settings, results }, null, 2)}\n`);
    }
  }
  console.log(`\n${report(results)}`);
} catch (error) {
  const isExpected = [SettingsError, FleetError, EmbeddedPostgresError].some((kind) => error instanceof kind);
  console.error(isExpected ? (error as Error).message : error);
  process.exit(1);
}
process.exit(0);
