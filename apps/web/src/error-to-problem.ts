/** From whatever a route threw to the problem that its caller is shown. What is inside an unforeseen error stays inside. */
import { DedupeContentionError, InvalidOptionError, InvalidPayloadError } from '@fencepost/queue';
import { HTTPException } from 'hono/http-exception';
import { isDatabaseTrouble } from './database-trouble.ts';
import { Problem, tryAgain } from './problem.ts';

export function errorToProblem(error: unknown, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof HTTPException) return new Problem(error.status, 'HTTP_ERROR', error.message);
  if (error instanceof InvalidOptionError) return new Problem(400, error.code, error.message);
  if (error instanceof InvalidPayloadError) {
    const errors = error.issues.map(({ path, message }) => ({ detail: `${path}: ${message}` }));
    return new Problem(422, error.code, error.message, { errors });
  }
  if (error instanceof DedupeContentionError) return tryAgain(error.code, error.message);
  if (isCutOff(error)) {
    return new Problem(400, 'REQUEST_CUT_OFF', 'The connection ended before the whole request was there.');
  }
  if (isDatabaseTrouble(error)) {
    return tryAgain('DATABASE_UNAVAILABLE', 'The database does not answer, or is too busy.');
  }
  const detail = 'Something went wrong on the server. Its log has the request id.';
  return new Problem(500, 'INTERNAL', detail, { extra: { requestId } });
}

/** What Node says of a request whose client went away, or whose chunks are none. Nobody gets the answer, but it is logged. */
function isCutOff(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return code === 'ECONNRESET' && message === 'aborted';
}
