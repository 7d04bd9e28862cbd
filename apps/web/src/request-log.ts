/** One line a request. Of a URL only the path: queries and headers may hold what is nobody's business. */
import { databaseFault } from '@fencepost/service';
import type { MiddlewareHandler } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import type { Logger } from 'pino';

export function requestLog(logger: Logger): MiddlewareHandler<{ Variables: RequestIdVariables }> {
  return async (c, next) => {
    const started = performance.now();
    await next();
    const { status } = c.res;
    const { method, path } = c.req;
    const durationMs = Math.round(performance.now() - started);
    const fields = { requestId: c.get('requestId'), method, path, status, durationMs };
    if (status === 503) logger.warn({ ...fields, ...faultOf(c.error), err: c.error }, 'request turned away');
    else if (status >= 500) logger.error({ ...fields, err: c.error }, 'request failed');
    // Asked every few seconds by whoever watches this process.
    else if (path === '/healthz' || path === '/readyz') logger.debug(fields, 'request');
    else logger.info(fields, 'request');
  };
}

/** What is wrong with the database, where that is it. */
function faultOf(error: unknown) {
  const { name: fault, meaning } = databaseFault(error) ?? {};
  return { fault, meaning };
}
