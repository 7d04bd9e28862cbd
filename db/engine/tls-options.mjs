/** TLS settings from a database URL's parameters. */
import { readFileSync } from 'node:fs';
import { DatabaseUrlError, wrongParameter } from './database-url-error.mjs';

/**
 * TLS as libpq and Prisma mean it (`pg` means something else by the same words): `require` encrypts, and verifies
 * only against a given authority; `verify-full` verifies the host's name as well. `prefer` and `allow` are refused:
 * `pg` cannot fall back from one to the other.
 *
 * @param {URLSearchParams} params
 * @returns {false | import('node:tls').ConnectionOptions}
 */
export function readTls(params) {
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
