/** What the soak can be told by its arguments. */
import { parseArgs } from 'node:util';

export interface SoakSettings {
  /** How long faults are drawn and jobs enqueued. The end takes some more. */
  readonly seconds: number;
  readonly seed: number;
  readonly workers: number;
  /** Whether completed jobs stay, as by default, or are deleted by their completion. */
  readonly keepCompleted: boolean;
}

export class SoakSettingsError extends Error {
  readonly code = 'INVALID_SOAK_SETTINGS';
  override readonly name = 'SoakSettingsError';
}

/** @throws SoakSettingsError naming the argument, what was found and what is expected. */
export function readSettings(argv: string[], anySeed: number): SoakSettings {
  const found = read(argv);
  return {
    seconds: wholeNumber('--seconds', found.seconds, { min: 1, max: 86_400, byDefault: 120 }),
    seed: wholeNumber('--seed', found.seed, { min: 0, max: 2 ** 32 - 1, byDefault: anySeed }),
    workers: wholeNumber('--workers', found.workers, { min: 1, max: 20, byDefault: 3 }),
    keepCompleted: found['keep-nothing'] !== true,
  };
}

function read(argv: string[]) {
  try {
    const options = {
      seconds: { type: 'string' },
      seed: { type: 'string' },
      workers: { type: 'string' },
      'keep-nothing': { type: 'boolean' },
    } as const;
    return parseArgs({ args: argv, options }).values;
  } catch {
    throw new SoakSettingsError(
      `unknown arguments: found "${argv.join(' ')}", expected --seconds N, --seed N, --workers N and --keep-nothing`,
    );
  }
}

function wholeNumber(
  name: string,
  text: string | undefined,
  { min, max, byDefault }: { min: number; max: number; byDefault: number },
): number {
  if (text === undefined) return byDefault;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new SoakSettingsError(`${name}: expected a whole number from ${min} to ${max}, found "${text}"`);
}
