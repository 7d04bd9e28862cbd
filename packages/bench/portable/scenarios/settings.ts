/** What the scenarios can be told by their arguments. */
import { parseArgs } from 'node:util';
import { SCENARIOS } from './all.ts';
import { SettingsError } from './errors.ts';
import type { Scenario } from './scenario.ts';

export interface BenchSettings {
  /** From the first phase to the last; starting, the end under pressure and catching up come on top. */
  readonly seconds: number;
  /** Jobs a second, all replicas together, in scenarios at a fixed rate. */
  readonly rate: number;
  readonly scenarios: readonly Scenario[];
  /** Where the results are written; undefined for nowhere. */
  readonly json: string | undefined;
}

/** @throws SettingsError naming the argument, what was found and what is expected. */
export function readSettings(argv: string[]): BenchSettings {
  const found = read(argv);
  return {
    seconds: wholeNumber('--seconds', found.seconds ?? '40', { min: 5, max: 86_400 }),
    rate: wholeNumber('--rate', found.rate ?? '1000', { min: 1, max: 1_000_000 }),
    scenarios: found.only === undefined ? SCENARIOS : chosen(found.only),
    json: found.json,
  };
}

function read(argv: string[]) {
  try {
    const option = { type: 'string' } as const;
    return parseArgs({ args: argv, options: { seconds: option, rate: option, only: option, json: option } })
      .values;
  } catch {
    throw new SettingsError(
      `unknown arguments: found "${argv.join(' ')}", expected --seconds N, --rate N, --only name,name and --json file`,
    );
  }
}

function chosen(only: string): Scenario[] {
  return only.split(',').map((name) => {
    const scenario = SCENARIOS.find((one) => one.name === name.trim());
    if (scenario) return scenario;
    throw new SettingsError(
      `--only: expected some of ${SCENARIOS.map((one) => one.name).join(', ')}, found "${name}"`,
    );
  });
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new SettingsError(`${name}: expected a whole number from ${min} to ${max}, found "${text}"`);
}
