/** One line a request. Of a URL only the path: queries and headers may hold what is nobody's business. */
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
    if (status === 503) logger.warn({ ...fields, err: c.error }, 'request turned away');
    else if (status >= 500) logger.error({ ...fields, err: c.error }, 'request failed');
    // Asked every few seconds by whoever watches this process.
    else if (path === '/healthz' || path === '/readyz') logger.debug(fields, 'request');
    else logger.info(fields, 'request');
  };
}
