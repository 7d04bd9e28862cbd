/**
 * What a database URL says, read once for everybody who connects: the schema engine, `createPrisma`, the worker's
 * LISTEN connection.
 *
 * Neither `pg` nor Prisma's adapter knows the parameters that Prisma users have in their URLs (`pgbouncer`,
 * `connection_limit`, `schema`, …), and the adapter lets a URL win over every setting beside it. So a URL never goes
 * further than this file: it is taken apart, and what follows works with the parts. A password never gets into a message.
 */
import { DatabaseUrlError, wrongParameter } from './database-url-error.mjs';
import { readTls } from './tls-options.mjs';

export { DatabaseUrlError };

const EXPECTED = 'expected postgresql://user:password@host:5432/database';

/** In seconds; a longer one is none to Node, whose timers count milliseconds in 31 bits and ring at once beyond. */
const LONGEST_TIMEOUT = 2_147_483;

/**
 * Takes a database URL apart.
 *
 * @param {string} url
 * @returns {import('./database-url.mjs').DatabaseTarget}
 * @throws {DatabaseUrlError} what is wrong, what was found, what is allowed
 */
export function parseDatabaseUrl(url) {
  const parsed = readUrl(url);
  const params = readParameters(parsed);
  const socketFolder = params.get('host');
  const host = socketFolder ?? decode(parsed.hostname.replace(/^\[(.*)\]$/, '$1'), 'host');
  if (host === '') throw new DatabaseUrlError(`The database URL has no host; ${EXPECTED}.`);
  if (host.includes(',')) {
    throw new DatabaseUrlError(
      `The database URL names several hosts (${host}); expected the one writable primary.`,
    );
  }
  if (parsed.port === '0') throw new DatabaseUrlError(`The database URL's port is 0; ${EXPECTED}.`);
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
    poolTimeoutMs: inMilliseconds(readInteger(params, 'pool_timeout', 0, LONGEST_TIMEOUT)),
    connectTimeoutMs: inMilliseconds(readInteger(params, 'connect_timeout', 0, LONGEST_TIMEOUT)),
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
  if (typeof url !== 'string') throw new DatabaseUrlError(`The database URL is missing; ${EXPECTED}.`);
  if (url.trim() === '') throw new DatabaseUrlError(`The database URL is empty; ${EXPECTED}.`);
  // URL drops them wherever they stand, also out of a password.
  if (/[\t\n\r]/.test(url.trim()))
    throw new DatabaseUrlError(
      'The database URL has a tab or a line break in it; they must be percent-encoded.',
    );
  /** @type {URL} */
  let parsed;
  try {
    // A socket's URL may have no host (postgresql://user@/db?host=/run/postgresql), which URL refuses beside a user.
    parsed = new URL(/[?&]host=/.test(url) ? url.replace('@/', '@localhost/') : url);
  } catch {
    throw unreadable();
  }
  // Without its protocol, "user:password@host" has the user for one.
  if (!/^[^/]*:\/\//.test(url)) throw unreadable();
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

function unreadable() {
  return new DatabaseUrlError(
    `The database URL cannot be read; ${EXPECTED}, special characters in user and password percent-encoded.`,
  );
}

/** @param {URL} parsed */
function readParameters({ searchParams }) {
  for (const [name, value] of searchParams) {
    if (searchParams.getAll(name).length > 1)
      throw new DatabaseUrlError(`The database URL has the parameter ${name} twice; expected it once.`);
    withoutNul(value, `parameter ${name}`);
  }
  return searchParams;
}

/**
 * @param {string} text
 * @param {string} part
 */
function decode(text, part) {
  /** @type {string} */
  let decoded;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(
      `The ${part} in the database URL has a "%" that starts no percent-encoded character; a "%" itself is "%25".`,
    );
  }
  return withoutNul(decoded, part);
}

/**
 * The parts go to the server as texts that end with a NUL.
 *
 * @param {string} text
 * @param {string} part
 */
function withoutNul(text, part) {
  if (text.includes('\0'))
    throw new DatabaseUrlError(`The ${part} in the database URL holds a NUL, which Postgres cannot take.`);
  return text;
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
 * @param {number} [most]
 */
function readInteger(params, name, least, most = Infinity) {
  const value = params.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < least || Number(value) > most) {
    const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
    throw wrongParameter(name, value, `a whole number ${range}`);
  }
  return Number(value);
}

/** @param {number | undefined} seconds */
function inMilliseconds(seconds) {
  return seconds === undefined ? undefined : seconds * 1000;
}
