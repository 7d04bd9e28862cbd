/** Any database URL: parts that read back as they were put in, or an error that says what is wrong without the password. */
import { inspect } from 'node:util';
import { createTestDatabase } from '@fencepost/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPgClient,
  createPrisma,
  DatabaseUrlError,
  parseDatabaseUrl,
  redactUrl,
} from '../../src/index.ts';

const RUNS = 500;
const MARK = 'hunter2marker';

function outcomeOf(url: string) {
  try {
    return { target: parseDatabaseUrl(url) };
  } catch (error) {
    return { error };
  }
}

/** Nothing of the marked password in whatever can be shown of it. */
function expectSafe(error: unknown, url: string): void {
  expect(error).toBeInstanceOf(DatabaseUrlError);
  expect(error).toMatchObject({ code: 'DATABASE_URL_INVALID', message: expect.stringMatching(/.{20}/s) });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(MARK);
  expect(redactUrl(url)).not.toContain(MARK);
}

const odd = fc.string({
  unit: fc.constantFrom(...Array.from('aé💥 /?#@:%[]\\&=+;,\'"<>|^`{}~!$*()\t\n\0\u2028')),
  maxLength: 8,
});

describe('parts that are percent-encoded', () => {
  it('read back, whatever they are', () => {
    const part = fc.oneof(odd, fc.string({ unit: 'grapheme', maxLength: 12 }));
    fc.assert(
      fc.property(part, part, part, fc.integer({ min: 1, max: 65_535 }), (user, password, database, port) => {
        const parts = [`u${user}`, `${MARK}${password}`, `d${database}`].map(encodeURIComponent);
        const url = `postgresql://${parts[0]}:${parts[1]}@db.test:${port}/${parts[2]}`;
        const { target, error } = outcomeOf(url);
        if (target === undefined) {
          // A text that ends at its NUL is another text.
          expect(`${user}${password}${database}`).toContain('\0');
          return expectSafe(error, url);
        }
        expect(`${user}${password}${database}`).not.toContain('\0');
        expect(target).toMatchObject({
          user: `u${user}`,
          password: `${MARK}${password}`,
          database: `d${database}`,
          port,
        });
        expect(redactUrl(url)).not.toContain(MARK);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a password that is not', () => {
  it('reads back or is refused, and is not shown', () => {
    fc.assert(
      fc.property(
        odd,
        odd,
        fc.constantFrom('/app', '/app?schema=x', '/app?pgbouncer=maybe', '/app?host=/run/a', ''),
        (before, after, rest) => {
          const url = `postgresql://ada:${before}${MARK}${after}@db.test${rest}`;
          const { target, error } = outcomeOf(url);
          if (target === undefined) return expectSafe(error, url);
          // What URL encodes by itself: nothing is cut off, nothing moves into another part.
          expect(target.password).toContain(MARK);
          expect([target.user, target.database]).toEqual(['ada', 'app']);
          expect(redactUrl(url)).not.toContain(MARK);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('any text', () => {
  it('is a target or a typed error', () => {
    const piece = fc.constantFrom(
      'postgresql:',
      'postgres:',
      'mysql:',
      'http:',
      '//',
      '/',
      'ada',
      ':',
      '@',
      '[',
      '::1',
      ']',
      '%',
      '%2F',
      '%00',
      ',',
      '?',
      '&',
      '=',
      '#',
      'host',
      'sslmode',
      'pgbouncer',
      'true',
      '0',
      '65536',
      '٣',
      ' ',
      '\n',
      '💥',
      '/run/postgresql',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
    );
    fc.assert(
      fc.property(text, (url) => {
        const { target, error } = outcomeOf(url);
        if (target === undefined) return expectSafe(error, url);
        expect(
          [target.host, target.user, target.database].every((part) => part !== '' && !part.includes('\0')),
        ).toBe(true);
        expect(target.port >= 1 && target.port <= 65_535).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('that is none either', () => {
    for (const junk of [undefined, null, 7, {}, [], new URL('postgresql://u@h/d')]) {
      expectSafe(outcomeOf(junk as string).error, '');
    }
  });
});

describe('a parameter', () => {
  const NAMES = [
    'schema',
    'pgbouncer',
    'connection_limit',
    'statement_cache_size',
    'pool_timeout',
    'connect_timeout',
    'application_name',
    'options',
    'sslmode',
    'sslrootcert',
    'sslcert',
    'sslkey',
    'sslaccept',
    'host',
    '__proto__',
    'constructor',
  ];

  it('has any value, or is named in the error', () => {
    const value = fc.oneof(
      fc.constantFrom(
        '',
        '0',
        '1',
        '-1',
        '1.5',
        '1e3',
        '٣',
        '2147484',
        '999999999',
        '99999999999',
        'true',
        'TRUE',
        'require',
        '/',
        '/etc/passwd',
        '\0',
      ),
      odd,
    );
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), value, (name, given) => {
        const url = `postgresql://ada:${MARK}@db.test/app?${new URLSearchParams([[name, given]]).toString().replaceAll('%40', 'x')}`;
        const { target, error } = outcomeOf(url);
        if (target === undefined) {
          expectSafe(error, url);
          expect((error as Error).message).toMatch(new RegExp(`${name}|host|sslrootcert`));
          return;
        }
        // Node's timers ring at once when they are asked for more.
        expect(target.poolTimeoutMs ?? 0).toBeLessThan(2 ** 31);
        expect(target.connectTimeoutMs ?? 0).toBeLessThan(2 ** 31);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(NAMES)('%s is given once', (name) => {
    const url = `postgresql://ada:${MARK}@db.test/app?${name}=1&x=2&${name}=1`;
    const { error } = outcomeOf(url);
    expectSafe(error, url);
    expect((error as Error).message).toContain(`${name} twice`);
  });
});

it('a password that the server refuses is in no error', async () => {
  const { url } = await createTestDatabase();
  const wrong = new URL(url);
  wrong.username = 'nobody_of_that_name';
  wrong.password = MARK;
  const prisma = createPrisma(wrong.href);
  const refused: unknown = await prisma.jobQueue.count().catch((error: unknown) => error);
  const client = createPgClient(wrong.href, { applicationName: 'fuzz', onError: () => {} });
  const alsoRefused: unknown = await client.connect().catch((error: unknown) => error);
  for (const error of [refused, alsoRefused]) {
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(MARK);
    expect(JSON.stringify(error)).not.toContain(MARK);
  }
  await prisma.$disconnect();
});
