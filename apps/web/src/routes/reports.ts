/** CSVs of deliveries: asked for here, written by a job, streamed from the chunks that it wrote. */
import { randomUUID } from 'node:crypto';
import type { PrismaClient } from '@fencepost/db';
import { deliveryReport } from '@fencepost/jobs';
import { enqueue } from '@fencepost/queue';
import { Hono } from 'hono';
import { z } from 'zod';
import { notFound, Problem } from '../problem.ts';
import { chunkStream } from '../chunk-stream.ts';

export function reportRoutes(prisma: PrismaClient): Hono {
  const routes = new Hono();

  routes.post('/', async (c) => {
    const id = randomUUID();
    const jobId = await prisma.$transaction(async (tx) => {
      const job = await enqueue(tx, deliveryReport, { reportId: id });
      await tx.report.create({ data: { id, jobId: job.id } });
      return job.id;
    });
    c.header('location', `/api/reports/${id}`);
    return c.json({ id, jobId }, 202);
  });

  routes.get('/:file{.+\\.csv}', async (c) => {
    const id = c.req.param('file').slice(0, -'.csv'.length);
    const report = await findReport(prisma, id);
    if (report.completedAt === null) {
      throw new Problem(409, 'NOT_FINISHED', `Report ${id} is still being written.`, {
        extra: { rows: report.rows },
      });
    }
    const chunks = await prisma.reportChunk.count({ where: { reportId: id } });
    return c.body(chunkStream(prisma, id, chunks), 200, {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="deliveries-${id}.csv"`,
    });
  });

  routes.get('/:id', async (c) => {
    const report = await findReport(prisma, c.req.param('id'));
    const job = await prisma.jobQueue.findUnique({
      where: { id: report.jobId },
      select: { id: true, state: true, attempts: true, maxAttempts: true, progress: true },
    });
    return c.json({ ...report, job });
  });

  return routes;
}

async function findReport(prisma: PrismaClient, id: string) {
  const report = z.guid().safeParse(id).success ? await prisma.report.findUnique({ where: { id } }) : null;
  if (!report) throw notFound(`report ${id}`);
  return report;
}
