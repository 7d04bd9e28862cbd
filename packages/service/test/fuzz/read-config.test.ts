/** Each kind of setting on its own, with any text: a value within its bounds, or one line that says what was found. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, duration, flag, oneOf, port, readConfig, wholeNumber } from '../../src/index.ts';

const RUNS = 400;

const KINDS = {
  WAIT: [duration({ min: '1s', max: '5m', byDefault: '30s' }), (value) => inRange(value, 1_000, 300_000)],
  SIZE: [wholeNumber({ min: 1, max: 100, byDefault: 10 }), (value) => inRange(value, 1, 100)],
  PORT: [port(1), (value) => inRange(value, 0, 65_535)],
  ON: [flag(), (value) => typeof value === 'boolean'],
  COLOUR: [oneOf(['red', 'green'], 'red'), (value) => value === 'red' || value === 'green'],
} satisfies Record<string, [z.ZodType, (value: unknown) => boolean]>;

function inRange(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .tuple(
      fc.oneof(fc.integer().map(String), fc.double().map(String)),
      fc.constantFrom('', 's', 'm', 'ms', ' s', 'S', '٣'),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'TRUE',
    '1\0',
    '１',
    '1_000',
    '1,000',
    '+1',
    '00000000000001',
    '1e2',
  ),
);

test.each(Object.entries(KINDS))('%s', (name, [setting, isRight]) => {
  fc.assert(
    fc.property(text, (given) => {
      try {
        const read = readConfig(z.object({ [name]: setting }), { [name]: given }) as Record<string, unknown>;
        expect(isRight(read[name])).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        const { problems } = error as ConfigError;
        expect(problems).toHaveLength(1);
        expect(problems[0]).toContain(`${name}: expected `);
        expect(problems[0]).toContain(`found ${JSON.stringify(given.trim())}`);
      }
    }),
    { numRuns: RUNS },
  );
});
