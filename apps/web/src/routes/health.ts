/** For load balancers and orchestrators: open to all, and saying nothing but yes or no. */
import type { PrismaClient } from '@fencepost/db';
import { Hono } from 'hono';
import { tryAgain } from '../problem.ts';

/** A database that takes longer than this to answer is none that requests should be sent to. */
const DATABASE_PATIENCE_MS = 2_000;

export function healthRoutes(prisma: PrismaClient): Hono {
  const routes = new Hono();

  /** The process is up. */
  routes.get('/healthz', (c) => c.json({ status: 'ok' }));

  /** The database answers, and has our tables. */
  routes.get('/readyz', async (c) => {
    const answers = prisma.jobQueue.findFirst({ select: { id: true } }).then(
      () => true,
      () => false,
    );
    if (await Promise.race([answers, falseAfter(DATABASE_PATIENCE_MS)])) return c.json({ status: 'ok' });
    throw tryAgain('DATABASE_UNAVAILABLE', 'The database does not answer.');
  });

  return routes;
}

function falseAfter(ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
