/** The kinds of settings that there are. The error message of each says what is expected. */
import { DatabaseUrlError, parseDatabaseUrl } from '@fencepost/db';
import { parseDuration, type Duration } from '@fencepost/queue/protocol';
import { z } from 'zod';

const DATABASE_URL = 'a Postgres URL such as postgresql://user:password@host:5432/database';

export function databaseUrl() {
  return z
    .string({ error: DATABASE_URL })
    .refine((text) => problemOf(text) === undefined, {
      error: ({ input }) => `${DATABASE_URL} (${problemOf(String(input))})`,
    })
    .meta({ url: true });
}

/** Milliseconds. */
export function duration({ min, max, byDefault }: { min: Duration; max: Duration; byDefault: Duration }) {
  const error = `a duration from ${min} to ${max}, such as "500ms", "30s", "5m", "7d"`;
  const [minMs, maxMs, defaultMs] = [min, max, byDefault].map((value) => parseDuration(value) ?? 0) as [
    number,
    number,
    number,
  ];
  return z
    .string({ error })
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((ms) => ms >= minMs && ms <= maxMs, { error })
    .default(defaultMs);
}

export function wholeNumber({ min, max, byDefault }: { min: number; max: number; byDefault: number }) {
  const error = `a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .default(byDefault);
}

export function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
  byDefault: Values[number],
) {
  return z.enum(values, { error: `one of ${values.join(', ')}` }).default(byDefault);
}

/** `1` or `true`, `0` or `false`; off where nothing is said. */
export function flag({ byDefault } = { byDefault: false }) {
  return z
    .enum(['1', 'true', '0', 'false'], { error: '1 or 0' })
    .transform((text) => text === '1' || text === 'true')
    .default(byDefault);
}

export function port(byDefault: number) {
  return wholeNumber({ min: 0, max: 65_535, byDefault });
}

export function logLevel() {
  return oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info');
}

/** Why the URL cannot be used, without its password. */
function problemOf(url: string): string | undefined {
  try {
    parseDatabaseUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseUrlError) return error.message;
    throw error;
  }
}
