/**
 * What a database URL says, read once for everybody who connects: the schema engine, `createPrisma`, the worker's
 * LISTEN connection.
 *
 * Neither `pg` nor Prisma's adapter knows the parameters that Prisma users have in their URLs (`pgbouncer`,
 * `connection_limit`, `schema`, …), and the adapter lets a URL win over every setting beside it. So a URL never goes
 * further than this file: it is taken apart, and what follows works with the parts. A password never gets into a message.
 */
import { readFileSync } from 'node:fs';

const EXPECTED = 'expected postgresql://user:password@host:5432/database';

/** The database URL cannot be used. The message says why, and never holds the password. */
export class DatabaseUrlError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'DatabaseUrlError';
    this.code = 'DATABASE_URL_INVALID';
  }
}

/**
 * Takes a database URL apart.
 *
 * @param {string} url
 * @returns {import('./database-url.mjs').DatabaseTarget}
 * @throws {DatabaseUrlError} what is wrong, what was found, what is allowed
 */
export function parseDatabaseUrl(url) {
  const parsed = readUrl(url);
  const params = parsed.searchParams;
  const socketFolder = params.get('host');
  const host = socketFolder ?? decode(parsed.hostname.replace(/^\[(.*)\]$/, '$1'), 'host');
  if (host === '') throw new DatabaseUrlError(`The database URL has no host; ${EXPECTED}.`);
  if (host.includes(',')) {
    throw new DatabaseUrlError(
      `The database URL names several hosts (${host}); expected the one writable primary.`,
    );
  }
  const user = decode(parsed.username, 'user');
  if (user === '') throw new DatabaseUrlError(`The database URL has no user; ${EXPECTED}.`);
  const database = decode(parsed.pathname.slice(1), 'database');
  if (database === '') throw new DatabaseUrlError(`The database URL has no database name; ${EXPECTED}.`);

  return {
    host,
    port: parsed.port === '' ? 5432 : Number(parsed.port),
    user,
    password: parsed.password === '' ? undefined : decode(parsed.password, 'password'),
    database,
    ssl: readTls(params),
    schema: params.get('schema') || 'public',
    behindPooler: readFlag(params, 'pgbouncer'),
    connectionLimit: readInteger(params, 'connection_limit', 1),
    statementCacheSize: readInteger(params, 'statement_cache_size', 0),
    poolTimeoutMs: inMilliseconds(readInteger(params, 'pool_timeout', 0)),
    connectTimeoutMs: inMilliseconds(readInteger(params, 'connect_timeout', 0)),
    applicationName: params.get('application_name') ?? undefined,
    options: params.get('options') ?? undefined,
  };
}

/**
 * The URL as it may be shown: without its password, and without any of it when it cannot be read with certainty.
 *
 * @param {string} url
 * @returns {string}
 */
export function redactUrl(url) {
  try {
    const parsed = readUrl(url);
    if (parsed.password !== '') parsed.password = '***';
    for (const name of parsed.searchParams.keys()) {
      if (/password/i.test(name)) parsed.searchParams.set(name, '***');
    }
    return parsed.href;
  } catch {
    return '(unreadable URL)';
  }
}

/** @param {string} url */
function readUrl(url) {
  if (url.trim() === '') throw new DatabaseUrlError(`The database URL is empty; ${EXPECTED}.`);
  /** @type {URL} */
  let parsed;
  try {
    // A socket's URL may have no host (postgresql://user@/db?host=/run/postgresql), which URL refuses beside a user.
    parsed = new URL(/[?&]host=/.test(url) ? url.replace('@/', '@localhost/') : url);
  } catch {
    throw new DatabaseUrlError(
      `The database URL cannot be read; ${EXPECTED}, special characters in user and password percent-encoded.`,
    );
  }
  if (parsed.protocol !== 'postgresql:' && parsed.protocol !== 'postgres:') {
    throw new DatabaseUrlError(
      `The database URL's protocol is "${parsed.protocol}"; allowed are "postgresql:" and "postgres:".`,
    );
  }
  // A password with an unencoded "/", "?" or "#" ends the host early, and the rest of it lands in the path.
  if (parsed.hash !== '' || `${parsed.pathname}${parsed.search}`.includes('@')) {
    throw new DatabaseUrlError(
      'The database URL is ambiguous: "/", "?", "#" and "@" in user and password must be percent-encoded.',
    );
  }
  return parsed;
}

/**
 * @param {string} text
 * @param {string} part
 */
function decode(text, part) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(
      `The ${part} in the database URL has a "%" that starts no percent-encoded character; a "%" itself is "%25".`,
    );
  }
}

/**
 * @param {URLSearchParams} params
 * @param {string} name
 */
function readFlag(params, name) {
  const value = params.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw wrongParameter(name, value, 'true or false');
  return value === 'true';
}

/**
 * @param {URLSearchParams} params
 * @param {string} name
 * @param {number} least
 */
function readInteger(params, name, least) {
  const value = params.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < least) {
    throw wrongParameter(name, value, `a whole number from ${least}`);
  }
  return Number(value);
}

/** @param {number | undefined} seconds */
function inMilliseconds(seconds) {
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * TLS as libpq and Prisma mean it (`pg` means something else by the same words): `require` encrypts, and verifies
 * only against a given authority; `verify-full` verifies the host's name as well. `prefer` and `allow` are refused:
 * `pg` cannot fall back from one to the other.
 *
 * @param {URLSearchParams} params
 * @returns {false | import('node:tls').ConnectionOptions}
 */
function readTls(params) {
  if (params.has('sslidentity')) {
    throw new DatabaseUrlError(
      'The URL parameter sslidentity is not supported; use sslcert and sslkey (PEM files).',
    );
  }
  const mode = params.get('sslmode') ?? (params.get('ssl') === 'true' ? 'verify-full' : 'disable');
  const ca = readPem(params, 'sslrootcert');
  const files = { ca, cert: readPem(params, 'sslcert'), key: readPem(params, 'sslkey') };
  switch (mode) {
    case 'disable':
      return false;
    case 'require':
      if (params.get('sslaccept') === 'strict') return files;
      return ca === undefined
        ? { ...files, rejectUnauthorized: false }
        : { ...files, checkServerIdentity: anyName };
    case 'verify-ca':
      if (ca === undefined)
        throw new DatabaseUrlError('sslmode=verify-ca needs sslrootcert, the path of a PEM file.');
      return { ...files, checkServerIdentity: anyName };
    case 'verify-full':
      return files;
    default:
      throw wrongParameter('sslmode', mode, 'disable, require, verify-ca or verify-full');
  }
}

/** Accepts a verified certificate whatever host it names. */
function anyName() {
  return undefined;
}

/**
 * @param {URLSearchParams} params
 * @param {string} name
 */
function readPem(params, name) {
  const path = params.get(name);
  if (path === null || (name === 'sslrootcert' && path === 'system')) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrongParameter(
      name,
      path,
      `a readable PEM file (${/** @type {NodeJS.ErrnoException} */ (error).code})`,
    );
  }
}

/**
 * @param {string} name
 * @param {string} found
 * @param {string} allowed
 */
function wrongParameter(name, found, allowed) {
  return new DatabaseUrlError(`The database URL's parameter ${name} is "${found}"; allowed: ${allowed}.`);
}
