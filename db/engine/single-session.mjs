/**
 * What the adapter takes for a pool: one session, which is never replaced, so that the migration lock is held for as
 * long as the engine believes it is.
 */
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { sessionConfig, UtcClient } from './session.mjs';

/** @typedef {import('./database-url.mjs').DatabaseTarget} DatabaseTarget */

const CHAR_OID = 18;
const TEXT_OID = 25;
const CONNECT_TIMEOUT_MS = 5_000;
/** How soon a server notices that its client is gone. */
const CLIENT_CHECK_INTERVAL = '2s';

export class SingleSession extends pg.Pool {
  /**
   * Where a result has columns of type `char`, by its rows: the adapter is told that they are text.
   *
   * @type {WeakMap<object, number[]>}
   */
  charColumns = new WeakMap();
  #target;
  #client;
  /** @type {Promise<unknown> | undefined} */
  #connected;

  /** @param {DatabaseTarget} target */
  constructor(target) {
    super();
    this.#target = target;
    this.#client = new UtcClient({
      ...sessionConfig(target, 'fencepost-schema-engine'),
      connectionTimeoutMillis: target.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    });
    // Whatever ends the session also fails its statement in flight, or its next one.
    this.#client.on('error', () => {});
  }

  /**
   * Opens the session if this is its first statement. Called by the adapter, with a query config and no callback.
   *
   * @override
   * @type {any}
   */
  query = async (/** @type {pg.QueryConfig} */ config) => {
    this.#connected ??= this.#open();
    await this.#connected.catch((error) => {
      throw connectFailure(error, this.#target);
    });
    const result = await this.#client.query(config).catch((error) => {
      throw error instanceof pg.DatabaseError ? error : new DriverAdapterError({ kind: 'ConnectionClosed' });
    });
    // A script of several statements has a list of results, which nobody reads.
    if (!Array.isArray(result)) this.charColumns.set(result.rows, hideCharColumns(result.fields));
    return result;
  };

  async #open() {
    await this.#client.connect();
    // Otherwise a server goes on with a statement whose client was killed, and holds the migration lock for as long as
    // it takes: nobody could tell whether the migration will be there in the end. Some platforms cannot look.
    await this.#client
      .query(`SET client_connection_check_interval = '${CLIENT_CHECK_INTERVAL}'`)
      .catch((error) => {
        if (!(error instanceof pg.DatabaseError)) throw error;
      });
  }

  /**
   * Sends a script as it is, however many statements it holds, and tells what is wrong with it in the server's words.
   *
   * @param {string} script
   */
  async runScript(script) {
    try {
      await this.query({ text: script });
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      throw new DriverAdapterError({
        kind: 'postgres',
        // For many codes the engine has words of its own ("column not found: …"), which say less.
        code: 'N/A',
        originalCode: error.code ?? 'N/A',
        severity: error.severity ?? 'ERROR',
        message: describeScriptError(error, script),
        detail: error.detail,
        column: error.column,
        hint: error.hint,
      });
    }
  }

  /**
   * The engine's transactions are statements of its own.
   *
   * @override
   * @returns {Promise<never>}
   */
  async connect() {
    throw new Error('The schema engine has one session, and no other comes from here.');
  }

  /** @override */
  async end() {
    await this.#client.end();
  }
}

/**
 * @param {pg.FieldDef[]} fields
 * @returns {number[]} where they were
 */
function hideCharColumns(fields) {
  const columns = [];
  for (const [column, field] of fields.entries()) {
    if (field.dataTypeID !== CHAR_OID) continue;
    field.dataTypeID = TEXT_OID;
    columns.push(column);
  }
  return columns;
}

/**
 * The adapter knows a server out of reach by four error codes, and not when a name has several addresses.
 *
 * @param {Error & { syscall?: string }} error
 * @param {DatabaseTarget} target
 */
function connectFailure(error, { host, port, user }) {
  /** @type {Error & { syscall?: string }} */
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  if (cause instanceof pg.DatabaseError) return cause;
  if (/password must be a string/.test(cause.message)) {
    return new DriverAdapterError({ kind: 'AuthenticationFailed', user });
  }
  if (cause.syscall !== undefined || /timeout|terminated/.test(cause.message)) {
    return new DriverAdapterError({ kind: 'DatabaseNotReachable', host, port });
  }
  return cause;
}

/**
 * @param {pg.DatabaseError} error
 * @param {string} script
 */
function describeScriptError({ message, code, detail, hint, position }, script) {
  const parts = [`${message} (${code})`];
  if (detail !== undefined) parts.push(`DETAIL: ${detail}`);
  if (hint !== undefined) parts.push(`HINT: ${hint}`);
  if (position !== undefined) {
    // The position counts characters, not UTF-16 units.
    const line = Array.from(script)
      .slice(0, Number(position) - 1)
      .join('')
      .split('\n').length;
    parts.push(`LINE ${line}: ${script.split('\n')[line - 1]}`);
  }
  return parts.join('\n');
}
