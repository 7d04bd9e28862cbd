/**
 * A database session in UTC.
 *
 * Prisma's adapter writes and reads `timestamptz` as if the session were in UTC and its dates in ISO style. A role, a
 * database or a server may say otherwise, so both are asked for in the startup packet, which outranks all three.
 * They stand there under their own names because PgBouncer tracks these two for each of its clients, while it refuses
 * a client that hides them in `options`.
 */
import pg from 'pg';

/**
 * `pg`'s client, with the method that its types leave out: what it sends when it connects.
 *
 * @type {new (config: pg.ClientConfig) => pg.Client & { getStartupConf(): object }}
 */
const Client = /** @type {any} */ (pg.Client);

/** The session's time zone is not UTC although it was asked for: something between here and the server ignores that. */
export class SessionTimeZoneError extends Error {
  /** @param {string} found */
  constructor(found) {
    super(
      `The database session is in the time zone "${found}", and every time would be off; expected UTC. ` +
        'Whatever pools the connections ignores the TimeZone that a client asks for, so set it on the role: ' +
        "ALTER ROLE … SET timezone = 'UTC'.",
    );
    this.name = 'SessionTimeZoneError';
    this.code = 'SESSION_TIME_ZONE';
  }
}

/** A client with its session in UTC and, when `searchPath` is given, its unqualified names in that schema. */
export class UtcClient extends Client {
  /** @type {Record<string, string>} */
  #startup = { TimeZone: 'UTC', DateStyle: 'ISO, MDY' };
  #timeZone = 'unknown';

  /** @param {import('./session.mjs').SessionConfig} [config] */
  constructor(config = {}) {
    super(config);
    if (config.searchPath !== undefined)
      this.#startup.search_path = `"${config.searchPath.replaceAll('"', '""')}"`;
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'TimeZone') this.#timeZone = parameterValue;
    });
  }

  /** @override */
  getStartupConf() {
    return { ...super.getStartupConf(), ...this.#startup };
  }

  /** @throws {SessionTimeZoneError} */
  assertUtc() {
    if (!/^(Etc\/)?(UTC|UCT|GMT|Universal|Zulu)$/i.test(this.#timeZone))
      throw new SessionTimeZoneError(this.#timeZone);
  }
}

/**
 * Where and how to connect, as `pg` wants it. Never a connection string: adapter and pool let one win over what stands
 * beside it.
 *
 * @param {import('./database-url.mjs').DatabaseTarget} target
 * @param {string} applicationName shown in `pg_stat_activity`
 * @returns {import('./session.mjs').SessionConfig}
 */
export function sessionConfig(target, applicationName) {
  return {
    host: target.host,
    port: target.port,
    user: target.user,
    database: target.database,
    ssl: target.ssl,
    application_name: applicationName,
    // A peer that vanished shows on an idle connection within half a minute.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(target.password !== undefined && { password: target.password }),
    ...(target.options !== undefined && { options: target.options }),
    // A pooler refuses the parameter; behind one, the role has to bring it (ALTER ROLE … SET search_path).
    ...(target.schema !== 'public' && !target.behindPooler && { searchPath: target.schema }),
  };
}
