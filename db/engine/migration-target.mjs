/** Where migrations run: in a session of their own, because the lock that keeps two deploys apart belongs to it. */
import { DatabaseUrlError, parseDatabaseUrl } from './database-url.mjs';

/**
 * @param {string} url
 * @throws {DatabaseUrlError}
 */
export function readMigrationTarget(url) {
  const target = parseDatabaseUrl(url);
  if (target.behindPooler) {
    throw new DatabaseUrlError(
      'The database URL says pgbouncer=true, and a transaction pooler gives migrations no session of their own; ' +
        'expected the address of the database itself.',
    );
  }
  return target;
}
