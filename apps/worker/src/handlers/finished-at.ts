/** When a job was completed, by the database's clock, for rows that are written with its completion. */
import type { Prisma } from '@fencepost/db';

/** @param tx the transaction in which `ctx.complete(tx)` has been called for this job */
export async function finishedAt(tx: Prisma.TransactionClient, jobId: string): Promise<Date | null> {
  const job = await tx.jobQueue.findUniqueOrThrow({ where: { id: jobId }, select: { finishedAt: true } });
  return job.finishedAt;
}
