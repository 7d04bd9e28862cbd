/**
 * When a job is completed, by the database's clock, for rows that are written with its completion. Not read off the job:
 * a worker that keeps nothing has deleted its row by then.
 */
import type { Prisma } from '@fencepost/db';

interface Read {
  readonly ms: number;
}

/** What now() is in all of the transaction: of a job that is completed and kept, its `finishedAt`. */
export async function transactionTime(tx: Prisma.TransactionClient): Promise<Date> {
  const [{ ms }] = await tx.$queryRaw<[Read]>`
    SELECT (extract(epoch FROM now()) * 1000)::float8 AS "ms"`;
  return new Date(ms);
}
