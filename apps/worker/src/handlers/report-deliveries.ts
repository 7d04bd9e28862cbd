/**
 * Writes the CSV of deliveries into report_chunk, a page at a time. Each chunk is written in a transaction that holds
 * the claim, so that of two runs only the owner writes; after each, the job's progress says where the next one begins.
 * A run that has to end leaves its chunks, and the next goes on from there.
 */
import type { Prisma, PrismaClient } from '@fencepost/db';
import { deliveryReport } from '@fencepost/jobs';
import { DiscardError, handle, SnoozeError, type JobContext } from '@fencepost/queue';
import { z } from 'zod';
import { HEADER, readDeliveryPage } from './delivery-page.ts';
import { transactionTime } from './store/transaction-time.ts';

export function reportDeliveries({ prisma }: { readonly prisma: PrismaClient }) {
  return handle(deliveryReport, async ({ reportId }, ctx) => {
    const report = await prisma.report.findUnique({ where: { id: reportId } });
    if (!report) throw new DiscardError(`no report ${reportId}`);
    const owned = <T>(write: (tx: Prisma.TransactionClient) => Promise<T>) =>
      prisma.$transaction(async (tx) => {
        await ctx.assertClaim(tx);
        return write(tx);
      });

    // An operator's retry of a finished report writes it anew.
    const kept = report.completedAt === null ? savedCheckpoint(ctx) : undefined;
    let at = await owned((tx) => begin(tx, reportId, kept));

    for (;;) {
      ctx.signal.throwIfAborted();
      if (ctx.draining.aborted) throw new SnoozeError(0);
      const { csv, rows, last } = await readDeliveryPage(prisma, {
        until: report.createdAt,
        after: at.after,
      });
      if (last === null) break;
      const index = at.chunks;
      at = { chunks: at.chunks + 1, rows: at.rows + rows, after: last };
      await owned(async (tx) => {
        await tx.reportChunk.create({ data: { reportId, index, content: csv } });
        await tx.report.update({ where: { id: reportId }, data: { rows: at.rows } });
      });
      await ctx.progress(at);
    }

    await prisma.$transaction(async (tx) => {
      await ctx.complete(tx, { rows: at.rows, chunks: at.chunks });
      const completedAt = await transactionTime(tx);
      await tx.report.update({ where: { id: reportId }, data: { completedAt } });
    });
  });
}

/** Where the next chunk begins. */
interface Checkpoint {
  readonly chunks: number;
  readonly rows: number;
  /** The last delivery that has been written. */
  readonly after: string | null;
}

const checkpoint = z.object({
  chunks: z.int().min(1),
  rows: z.int().min(0),
  after: z.guid().nullable(),
}) satisfies z.ZodType<Checkpoint>;

function savedCheckpoint(ctx: JobContext): Checkpoint | undefined {
  return checkpoint.safeParse(ctx.job.progress).data;
}

/**
 * The checkpoint may be behind the chunks, when the run ended between the two: what was written after it is written
 * again. It is ahead of them only if it comes from an earlier life of the job: then everything is.
 */
async function begin(
  tx: Prisma.TransactionClient,
  reportId: string,
  kept: Checkpoint | undefined,
): Promise<Checkpoint> {
  const written = await tx.reportChunk.count({ where: { reportId, index: { lt: kept?.chunks ?? 0 } } });
  const goesOn = kept !== undefined && kept.chunks === written;
  const at = goesOn ? kept : { chunks: 1, rows: 0, after: null };
  await tx.reportChunk.deleteMany({ where: { reportId, index: { gte: goesOn ? kept.chunks : 0 } } });
  if (!goesOn) await tx.reportChunk.create({ data: { reportId, index: 0, content: HEADER } });
  await tx.report.update({ where: { id: reportId }, data: { rows: at.rows, completedAt: null } });
  return at;
}
