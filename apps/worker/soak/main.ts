/** `npm run soak -- --seconds 120 [--seed N] [--workers 3] [--keep-nothing]`: exit code 1 unless everything is as it must be. */
import { randomInt } from 'node:crypto';
import { EmbeddedPostgresError, TestDatabaseError } from '@fencepost/testing';
import { report } from './report.ts';
import { readSettings, SoakSettingsError } from './settings.ts';
import { soak } from './soak.ts';

// Every worker process has its end tied to this one's.
process.setMaxListeners(0);
// By way of `exit`, which takes the worker processes along; the database goes by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const settings = readSettings(process.argv.slice(2), randomInt(2 ** 32));
  say(`soak: seed ${settings.seed}`);
  const result = await soak(settings, say);
  say(`\n${report(settings, result)}`);
  process.exitCode = result.violations.length === 0 ? 0 : 1;
} catch (error) {
  const expected = [SoakSettingsError, EmbeddedPostgresError, TestDatabaseError].some(
    (kind) => error instanceof kind,
  );
  say(expected ? (error as Error).message : error instanceof Error ? String(error.stack) : String(error));
  process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
