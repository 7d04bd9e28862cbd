import type pg from 'pg';
import type { DatabaseTarget } from './database-url.mjs';

export interface SessionConfig extends pg.ClientConfig {
  /** The schema of unqualified names; the server's choice when left out. */
  searchPath?: string;
}

/** The session's time zone is not UTC although it was asked for: something between here and the server ignores that. */
export declare class SessionTimeZoneError extends Error {
  readonly code: 'SESSION_TIME_ZONE';
  constructor(found: string);
}

/** A client with its session in UTC and, when `searchPath` is given, its unqualified names in that schema. */
export declare class UtcClient extends pg.Client {
  constructor(config?: SessionConfig);

  /**
   * To be called once connected.
   *
   * @throws {SessionTimeZoneError}
   */
  assertUtc(): void;
}

/** Where and how to connect, as `pg` wants it; `applicationName` shows in `pg_stat_activity`. */
export declare function sessionConfig(target: DatabaseTarget, applicationName: string): SessionConfig;
