/** One bearer token for the whole API. Without a token in the configuration, which production refuses, all may pass. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { Problem } from './problem.ts';

export function requireToken(token: string | undefined): MiddlewareHandler {
  if (token === undefined) return (_c, next) => next();
  const expected = digest(token);
  return async (c, next) => {
    const given = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
    // Digests are of one length, so that the comparison takes the same time whatever was given.
    if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      throw new Problem(401, 'UNAUTHORIZED', 'Expected the header "Authorization: Bearer <API_TOKEN>".', {
        headers: { 'www-authenticate': 'Bearer realm="fencepost"' },
      });
    }
    await next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
