/**
 * The scenarios of the public harness on this machine, one after the other, each on a Postgres of its own:
 *
 *     npm run bench:portable -- [--seconds 40] [--rate 1000] [--only postgres_restart,event_burst] [--json file]
 *
 * Exit code 1 unless everything is as it must be.
 */
import { writeFile } from 'node:fs/promises';
import { EmbeddedPostgresError } from '@fencepost/testing';
import { ScenarioError, SettingsError } from './errors.ts';
import { report } from './report.ts';
import { faultsOf, type ScenarioResult } from './result.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { readSettings, type BenchSettings } from './settings.ts';

// By way of `exit`: the replicas and the server of a run that is cut short go by themselves.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const settings = readSettings(process.argv.slice(2));
  const results = await runAll(settings);
  console.log(`\n${report(results)}`);
  if (settings.json !== undefined) await writeFile(settings.json, `${JSON.stringify(results, null, 2)}\n`);
  process.exitCode = results.every((result) => faultsOf(result).length === 0) ? 0 : 1;
} catch (error) {
  const isExpected = error instanceof SettingsError || error instanceof EmbeddedPostgresError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}

async function runAll(settings: BenchSettings): Promise<ScenarioResult[]> {
  console.error(`${settings.seconds} s each; ${settings.rate} jobs/s where the rate is fixed`);
  const results: ScenarioResult[] = [];
  for (const scenario of settings.scenarios) {
    console.error(`${scenario.name} …`);
    results.push(await runScenario(scenario, settings).catch((error: unknown) => failed(scenario, error)));
  }
  return results;
}

function failed({ name }: Scenario, error: unknown): ScenarioResult {
  if (!(error instanceof ScenarioError)) throw error;
  return { outcome: 'failed', scenario: name, why: error.message };
}
