/** What is wrong with a database URL: what was found, and what is allowed. */

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
 * @param {string} name
 * @param {string} found
 * @param {string} allowed
 */
export function wrongParameter(name, found, allowed) {
  return new DatabaseUrlError(
    `The database URL's parameter ${name} is ${JSON.stringify(found.slice(0, 200))}; allowed: ${allowed}.`,
  );
}
