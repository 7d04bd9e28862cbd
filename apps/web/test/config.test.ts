import { ConfigError } from '@fencepost/service';
import { describe, expect, test } from 'vitest';
import { readWebConfig } from '../src/config.ts';

const DATABASE_URL = 'postgresql://ada:hunter2@db.example:5432/app';
const API_TOKEN = 'sixteen-letters!';

function problems(env: Record<string, string>): readonly string[] {
  try {
    readWebConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the settings', () => {
  test('need a database alone, outside of production', () => {
    expect(readWebConfig({ DATABASE_URL })).toEqual({
      databaseUrl: DATABASE_URL,
      port: 3000,
      host: '127.0.0.1',
      apiToken: undefined,
      allowPrivateWebhooks: false,
      logLevel: 'info',
    });
  });

  test('all of them', () => {
    const env = {
      DATABASE_URL,
      PORT: '8080',
      HOST: '::',
      API_TOKEN,
      ALLOW_PRIVATE_WEBHOOKS: '1',
      LOG_LEVEL: 'debug',
    };
    expect(readWebConfig({ ...env, NODE_ENV: 'production' })).toEqual({
      databaseUrl: DATABASE_URL,
      port: 8080,
      host: '::',
      apiToken: API_TOKEN,
      allowPrivateWebhooks: true,
      logLevel: 'debug',
    });
  });

  test('in production, need a token, and listen to everybody', () => {
    expect(problems({ DATABASE_URL, NODE_ENV: 'production' })).toEqual([
      expect.stringMatching(/^API_TOKEN: expected at least 16 characters.*, found nothing$/),
    ]);
    expect(readWebConfig({ DATABASE_URL, API_TOKEN, NODE_ENV: 'production' }).host).toBe('0.0.0.0');
  });

  test.each([
    [{ PORT: '80a' }, /^PORT: expected a whole number from 0 to 65535, found "80a"$/],
    [{ PORT: '65536' }, /^PORT: expected a whole number from 0 to 65535, found "65536"$/],
    [
      { HOST: 'http://x' },
      /^HOST: expected an address to listen on, such as 0\.0\.0\.0, found "http:\/\/x"$/,
    ],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL: expected one of .*info.*, found "loud"$/],
    [{ NODE_ENV: 'prodution' }, /^NODE_ENV: expected one of production, .*, found "prodution"$/],
    [{ ALLOW_PRIVATE_WEBHOOKS: 'maybe' }, /^ALLOW_PRIVATE_WEBHOOKS: expected 1 or 0, found "maybe"$/],
    [
      { API_TOKEN: 'short' },
      /^API_TOKEN: expected at least 16 characters.*, found 5 characters that are not shown$/,
    ],
    [
      { API_TOKEN: 'in sixteen letters' },
      /^API_TOKEN: .*without spaces.*, found 18 characters that are not shown$/,
    ],
    [{ DATABASE_URL: 'mysql://ada:hunter2@db/app' }, /^DATABASE_URL: expected a Postgres URL/],
    [{ DATABASE_URL: '' }, /^DATABASE_URL: expected a Postgres URL .*, found nothing$/],
  ])('%j: one line that says which, what was found and what is expected', (change, line) => {
    const found = problems({ DATABASE_URL, ...change });
    expect(found).toEqual([expect.stringMatching(line)]);
    expect(found.join()).not.toMatch(/hunter2|short|sixteen|\n/);
  });

  test('are told all at once', () => {
    const found = problems({ PORT: 'x', NODE_ENV: 'production', LOG_LEVEL: 'loud' });
    expect(names(found)).toEqual(['API_TOKEN', 'DATABASE_URL', 'LOG_LEVEL', 'PORT']);
  });
});

function names(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/:.*/, '')).sort((a, b) => a.localeCompare(b));
}
