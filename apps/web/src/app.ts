/** The web app without its server: every route, and what holds for all of them. */
import type { PrismaClient } from '@fencepost/db';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId, type RequestIdVariables } from 'hono/request-id';
import { secureHeaders } from 'hono/secure-headers';
import type { Logger } from 'pino';
import { requireToken } from './auth.ts';
import type { WebConfig } from './config.ts';
import { errorToProblem } from './error-to-problem.ts';
import { Problem, problemResponse } from './problem.ts';
import { requestLog } from './request-log.ts';
import { endpointRoutes } from './routes/endpoints.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { jobRoutes } from './routes/jobs.ts';
import { pageRoutes } from './routes/page.ts';
import { reportRoutes } from './routes/reports.ts';

/** What an event may weigh. Jobs carry ids alone, so that no event comes near the limit of a job's payload. */
const MAX_BODY_BYTES = 128 * 1024;

export interface AppSettings {
  readonly prisma: PrismaClient;
  readonly config: Pick<WebConfig, 'apiToken' | 'allowPrivateWebhooks'>;
  readonly logger: Logger;
}

export function createApp({ prisma, config, logger }: AppSettings): Hono<{ Variables: RequestIdVariables }> {
  const app = new Hono<{ Variables: RequestIdVariables }>();
  app.use(requestId(), requestLog(logger), secureHeaders());
  app.use(
    methodNotAllowed({ app, onMethodNotAllowed: (c, allowed) => problemResponse(c, wrongMethod(allowed)) }),
  );
  app.use('/api/*', requireToken(config.apiToken), bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));

  app.route('/', healthRoutes(prisma));
  app.route('/', pageRoutes());
  app.route('/api/endpoints', endpointRoutes({ prisma, allowPrivate: config.allowPrivateWebhooks }));
  app.route('/api/events', eventRoutes(prisma));
  app.route('/api/jobs', jobRoutes(prisma));
  app.route('/api/reports', reportRoutes(prisma));

  app.notFound((c) => problemResponse(c, new Problem(404, 'NOT_FOUND', 'There is nothing at this path.')));
  app.onError((error, c) => problemResponse(c, errorToProblem(error, c.get('requestId'))));
  return app;
}

function wrongMethod(allowed: readonly string[]): Problem {
  const allow = allowed.join(', ');
  return new Problem(405, 'METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { headers: { allow } });
}

function tooLarge(): never {
  throw new Problem(413, 'BODY_TOO_LARGE', `Expected a body of at most ${MAX_BODY_BYTES} bytes.`);
}
