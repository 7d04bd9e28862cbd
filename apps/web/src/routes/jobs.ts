/** Any job, whichever process took it in and whichever runs it: read it, cancel it, give it another life. */
import type { PrismaClient } from '@fencepost/db';
import { cancel, findJob, JOB_STATES, listJobs, retry, type Job } from '@fencepost/queue';
import { Hono } from 'hono';
import { z } from 'zod';
import { page, text } from '../fields.ts';
import { nextPage } from '../pages.ts';
import { notFound, Problem, tryAgain } from '../problem.ts';
import { readQuery } from '../read-request.ts';
import { untilFree } from '../until-free.ts';

const jobQuery = z.strictObject({ ...page, type: text.optional(), state: z.enum(JOB_STATES).optional() });

export function jobRoutes(prisma: PrismaClient): Hono {
  const routes = new Hono();

  routes.get('/', async (c) => {
    const { type, state, before, limit } = readQuery(c, jobQuery);
    const jobs = await listJobs(prisma, {
      limit,
      ...(type === undefined ? {} : { type }),
      ...(state === undefined ? {} : { states: [state] }),
      ...(before === undefined ? {} : { before }),
    });
    return c.json({ jobs: jobs.map(summary), next: nextPage(jobs, limit) });
  });

  routes.get('/:id', async (c) => {
    const id = c.req.param('id');
    const job = await findJob(prisma, id);
    if (!job) throw notFound(`job ${id}`);
    return c.json(job);
  });

  routes.post('/:id/cancel', async (c) => {
    const id = c.req.param('id');
    const result = await untilFree(() => cancel(prisma, id));
    switch (result.outcome) {
      case 'cancelled':
        return c.json(result, 200);
      case 'requested':
        return c.json(result, 202);
      case 'already_finished':
        throw new Problem(409, 'ALREADY_FINISHED', `Job ${id} is ${result.state}.`, {
          extra: { state: result.state },
        });
      case 'busy':
        throw busy(id);
      case 'not_found':
        throw notFound(`job ${id}`);
    }
  });

  routes.post('/:id/retry', async (c) => {
    const id = c.req.param('id');
    const result = await untilFree(() => retry(prisma, id));
    switch (result.outcome) {
      case 'retried':
        return c.json(result, 200);
      case 'not_finished':
        throw new Problem(409, 'NOT_FINISHED', `Job ${id} is ${result.state}.`, {
          extra: { state: result.state },
        });
      case 'duplicate':
        throw new Problem(409, 'DUPLICATE', `Another unfinished job has the dedupe key of job ${id}.`, {
          extra: { duplicateId: result.id },
        });
      case 'busy':
        throw busy(id);
      case 'not_found':
        throw notFound(`job ${id}`);
    }
  });

  return routes;
}

/** What a list shows of a job: not what can be long. */
function summary({ payload: _payload, result: _result, errors, ...job }: Job) {
  return { ...job, lastError: errors.at(-1)?.message ?? null };
}

function busy(id: string): Problem {
  return tryAgain('JOB_BUSY', `Somebody else holds job ${id} at the moment.`);
}
