import type { QueueClient } from '../client.ts';
import { onceMore } from './once-more.ts';

/** A claim by its number: it stays on the row when the token is gone. */
export interface NumberedClaim {
  readonly id: string;
  readonly claims: number;
}

/**
 * After runs that called `ctx.complete(tx)`: which of those transactions committed? Only the row knows, since a commit
 * whose answer was lost looks like a failure. The claim's number tells this run's completion from that of a later one.
 */
export async function findCompleted(
  client: QueueClient,
  claims: readonly NumberedClaim[],
): Promise<Set<string>> {
  if (claims.length === 0) return new Set();
  const ids = claims.map((claim) => claim.id);
  const numbers = JSON.stringify(Object.fromEntries(claims.map((claim) => [claim.id, claim.claims])));
  const rows = await onceMore(
    () => client.$queryRaw<{ id: string }[]>`
    SELECT "id"::text AS "id"
    FROM "job_queue"
    WHERE "id" = ANY (${ids}::uuid[])
      -- As text, or the index of finished jobs may be read from end to end.
      AND "state"::text = 'completed'
      AND "claims" = (${numbers}::jsonb ->> "id"::text)::int`,
  );
  return new Set(rows.map((row) => row.id));
}
