import { describe, expect, it } from 'vitest';
import { DatabaseUrlError, parseDatabaseUrl, redactUrl } from '../src/index.ts';

describe('parseDatabaseUrl', () => {
  it('takes a plain URL apart', () => {
    expect(parseDatabaseUrl('postgresql://us%40er:p%2Fw@db.example.com:6543/app%20db')).toEqual({
      host: 'db.example.com',
      port: 6543,
      user: 'us@er',
      password: 'p/w',
      database: 'app db',
      ssl: false,
      schema: 'public',
      behindPooler: false,
      connectionLimit: undefined,
      statementCacheSize: undefined,
      poolTimeoutMs: undefined,
      connectTimeoutMs: undefined,
      applicationName: undefined,
      options: undefined,
    });
  });

  it('knows the parameters of Prisma, and leaves out what it does not know', () => {
    const url =
      'postgres://u@host/app?schema=jobs&pgbouncer=true&connection_limit=3&pool_timeout=7&connect_timeout=2' +
      '&statement_cache_size=0&application_name=web&options=project%3Dx&socket_timeout=5&whatever=1';
    expect(parseDatabaseUrl(url)).toMatchObject({
      password: undefined,
      schema: 'jobs',
      behindPooler: true,
      connectionLimit: 3,
      poolTimeoutMs: 7_000,
      connectTimeoutMs: 2_000,
      statementCacheSize: 0,
      applicationName: 'web',
      options: 'project=x',
    });
  });

  it.each([
    ['postgresql://u:p@[fdaa::3]:5433/app', { host: 'fdaa::3', port: 5433 }],
    ['postgresql://u:p@%2Frun%2Fpostgresql/app', { host: '/run/postgresql', port: 5432 }],
    ['postgresql://u:p@/app?host=/run/postgresql', { host: '/run/postgresql', port: 5432 }],
  ])('finds the host of %s', (url, target) => {
    expect(parseDatabaseUrl(url)).toMatchObject(target);
  });

  it.each([
    ['', false],
    ['?sslmode=disable', false],
    ['?sslmode=require', { rejectUnauthorized: false }],
    ['?sslmode=require&sslaccept=strict', {}],
    ['?sslmode=verify-full', {}],
    ['?sslmode=verify-full&sslrootcert=system', {}],
    ['?ssl=true', {}],
    ['?sslmode=verify-full&sslrootcert=/etc/hosts', { ca: expect.any(String) }],
    [
      '?sslmode=require&sslrootcert=/etc/hosts',
      { ca: expect.any(String), checkServerIdentity: expect.any(Function) },
    ],
    [
      '?sslmode=verify-ca&sslrootcert=/etc/hosts',
      { ca: expect.any(String), checkServerIdentity: expect.any(Function) },
    ],
  ])('reads TLS from "%s"', (query, ssl) => {
    expect(parseDatabaseUrl(`postgresql://u:p@host/app${query}`).ssl).toEqual(ssl);
  });

  it.each([
    ['', 'is empty'],
    ['not a url', 'cannot be read'],
    ['postgresql://u:hunter2@host:port/app', 'cannot be read'],
    ['mysql://u:hunter2@host/app', 'protocol is "mysql:"; allowed are "postgresql:" and "postgres:"'],
    ['postgresql://u:hunter2@/app', 'cannot be read'],
    ['postgresql:///app', 'has no host'],
    ['postgresql://host/app', 'has no user'],
    ['postgresql://u:hunter2@host', 'has no database name'],
    ['postgresql://u:hunter2@one,two/app', 'several hosts (one,two)'],
    ['postgresql://u:1/hunter2@host/app', 'must be percent-encoded'],
    ['postgresql://u:1#hunter2@host/app', 'must be percent-encoded'],
    ['postgresql://u:1?hunter2@host/app', 'must be percent-encoded'],
    ['postgresql://u:hunter2%@host/app', 'password in the database URL has a "%"'],
    ['postgresql://u:hunter2@host/app?pgbouncer=yes', 'pgbouncer is "yes"; allowed: true or false'],
    [
      'postgresql://u:hunter2@host/app?connection_limit=0',
      'connection_limit is "0"; allowed: a whole number from 1',
    ],
    [
      'postgresql://u:hunter2@host/app?pool_timeout=1.5',
      'pool_timeout is "1.5"; allowed: a whole number from 0',
    ],
    [
      'postgresql://u:hunter2@host/app?sslmode=prefer',
      'sslmode is "prefer"; allowed: disable, require, verify-ca or verify-full',
    ],
    ['postgresql://u:hunter2@host/app?sslmode=verify-ca', 'needs sslrootcert'],
    ['postgresql://u:hunter2@host/app?sslmode=require&sslrootcert=/missing', 'a readable PEM file (ENOENT)'],
    ['u:hunter2@host/app', 'cannot be read'],
    ['postgresql://u:hun\tter2@host/app', 'a tab or a line break'],
    ['postgresql://u:hunter2@host:0/app', 'port is 0'],
    ['postgresql://u%00:hunter2@host/app', 'user in the database URL holds a NUL'],
    ['postgresql://u:hunter2@host/app?application_name=a%00b', 'parameter application_name in'],
    ['postgresql://u:hunter2@host/app?sslmode=require&sslmode=disable', 'the parameter sslmode twice'],
    // Beyond what a timer of Node's can count, so that every connection would time out at once.
    [
      'postgresql://u:hunter2@host/app?connect_timeout=2147484',
      'connect_timeout is "2147484"; allowed: a whole number from 0 to 2147483',
    ],
    [undefined as unknown as string, 'is missing'],
    ['postgresql://u:hunter2@host/app?sslidentity=x.p12', 'sslidentity is not supported'],
  ])('refuses %j', (url, message) => {
    let error: unknown;
    try {
      parseDatabaseUrl(url);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DatabaseUrlError);
    expect(error).toMatchObject({ code: 'DATABASE_URL_INVALID', message: expect.stringContaining(message) });
    expect(String((error as Error).stack)).not.toContain('hunter2');
  });
});

describe('redactUrl', () => {
  it.each([
    ['postgresql://u:hunter2@host:1/app?schema=x', 'postgresql://u:***@host:1/app?schema=x'],
    ['postgresql://u@host/app', 'postgresql://u@host/app'],
    ['postgresql://u@host/app?sslpassword=hunter2', 'postgresql://u@host/app?sslpassword=***'],
    ['postgresql://u:1/hunter2@host/app', '(unreadable URL)'],
    ['hunter2', '(unreadable URL)'],
  ])('of %s is %s', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });
});
