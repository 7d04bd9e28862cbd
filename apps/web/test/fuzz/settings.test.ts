/** Any environment of the web app: settings within their bounds, or a line for each wrong one, and no secret in it. */
import { ConfigError } from '@fencepost/service';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWebConfig } from '../../src/config.ts';

const RUNS = 300;
const SECRET = 'marker-that-nobody-is-told';

const junk = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '1',
    '0',
    '-1',
    '٣',
    '1e9',
    '0x10',
    '99999999999999999999',
    'true',
    'TRUE',
    '\u00a03000',
    '３０００',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constant('x'.repeat(100_000)),
);
const url = fc.oneof(
  fc.constantFrom(
    `postgresql://ada:${SECRET}@db.test/app`,
    `postgresql://ada:${SECRET}@/app`,
    `postgresql://ada:${SECRET}@db.test:99999/app`,
    `postgresql://ada:${SECRET}@db.test/app?sslmode=prefer`,
    `postgresql://ada@db.test/app?pgbouncer=maybe&sslpassword=${SECRET}`,
    `ada:${SECRET}@db.test/app`,
    `postgresql:ada:${SECRET}@db.test/app`,
    `mysql://ada:${SECRET}@db.test/app`,
    SECRET,
  ),
  fc
    .tuple(
      fc.constantFrom('/', '?', '#', '@', '%', ':', ' ', '\n', '\\', '[', '%zz', '%00', 'é'),
      fc.boolean(),
    )
    .map(([odd, isFirst]) => `postgresql://ada:${isFirst ? odd + SECRET : SECRET + odd}@db.test/app`),
  junk,
);
const token = fc.oneof(
  fc.constantFrom(SECRET, `${SECRET} `, `${SECRET} ${SECRET}`, `${SECRET}\0 x`, SECRET.slice(0, 15)),
  junk,
);
const environment = fc.record(
  {
    DATABASE_URL: url,
    API_TOKEN: token,
    PORT: junk,
    HOST: fc.oneof(fc.constantFrom('::', '0.0.0.0', 'localhost'), junk),
    ALLOW_PRIVATE_WEBHOOKS: junk,
    LOG_LEVEL: fc.oneof(fc.constantFrom('info', 'INFO', '__proto__'), junk),
    NODE_ENV: fc.oneof(fc.constantFrom('production', 'Production', 'test'), junk),
  },
  { requiredKeys: [] },
);

test('any environment', () => {
  fc.assert(
    fc.property(environment, (env) => {
      let config: ReturnType<typeof readWebConfig>;
      try {
        config = readWebConfig(env);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        const { code, problems, message } = error as ConfigError;
        expect(code).toBe('INVALID_CONFIG');
        expect(problems.length).toBeGreaterThan(0);
        for (const problem of problems)
          expect(problem).toMatch(
            /^(DATABASE_URL|API_TOKEN|PORT|HOST|ALLOW_PRIVATE_WEBHOOKS|LOG_LEVEL|NODE_ENV): expected .+, found .+$/,
          );
        expect(message).not.toContain(SECRET);
        expect(message.length).toBeLessThan(5_000);
        return;
      }
      expect(config.port >= 0 && config.port <= 65_535).toBe(true);
      expect(config.apiToken ?? 'x'.repeat(16)).toMatch(/^\S{16,}$/);
      if (env.NODE_ENV === 'production') expect(config.apiToken).toBeDefined();
    }),
    { numRuns: RUNS },
  );
});
