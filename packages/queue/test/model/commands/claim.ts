import fc from 'fast-check';
import { expect } from 'vitest';
import { claimJobs, type ClaimRequest } from '../../../src/store/claim.ts';
import type { ClaimedJob } from '../../../src/store/claimed-jobs.ts';
import { claimMove } from '../moves/claim.ts';
import { MILLISECOND, readTable, type Row } from '../table.ts';
import { command, step, type Real, type World } from '../world.ts';
import { commits, kinds } from './kinds.ts';

/** One of three workers claims some of the types, with room for little or for all. */
export const claimCommand = fc
  .record({
    worker: fc.constantFrom('worker-1', 'worker-2', 'worker-3'),
    kinds,
    slots: fc.integer({ min: 1, max: 4 }),
    capacity: fc.integer({ min: 1, max: 6 }),
    commits,
  })
  .map(({ worker: workerId, kinds: some, slots, capacity, commits: doesCommit }) => {
    const request = { workerId, wanted: some.map((one) => ({ ...one, slots })), capacity };
    const types = some.map(({ type }) => type).join();
    return command(
      `claim(${workerId}, ${types}, slots ${slots}, capacity ${capacity}, commits ${doesCommit})`,
      (world, real) => claim(world, real, request, doesCommit),
      (world) => world.rows.some(({ state }) => state === 'pending'),
    );
  });

export async function claim(world: World, real: Real, request: ClaimRequest, doesCommit: boolean) {
  let claimed: ClaimedJob[] = [];
  await step(world, real, {
    cause: 'claim',
    commits: doesCommit,
    async act(tx, now) {
      claimed = await claimJobs(tx, request);
      const drawn = await readTable(tx);
      const draws = claimed.map(({ id, claimToken }) => {
        return { id, claimToken, retryDelayMs: drawn.get(id)?.retryDelayMs ?? Number.NaN };
      });
      const { table, report } = claimMove(world.table, now, request, draws);
      expect(report).toEqual([]);
      expect(claimed.map(asRow)).toEqual(inOrderOfStart(claimed.map(({ id }) => table.get(id))));
      const spent = new Set(world.claims.map(({ claimToken }) => claimToken));
      for (const { claimToken } of claimed) expect(spent).not.toContain(claimToken);
      expect(new Set(claimed.map(({ claimToken }) => claimToken)).size).toBe(Math.min(1, claimed.length));
      return table;
    },
  });
  if (doesCommit) world.claims.push(...claimed.map((job) => ({ ...job, completing: false })));
}

/** What the claim tells the worker, in the words of the table; instants to the millisecond, as Date reads them. */
function asRow({ waitedMs, ...job }: ClaimedJob): Partial<Row> {
  expect(waitedMs).toBeGreaterThanOrEqual(0);
  const instant = (text: string) => Date.parse(text);
  return {
    ...job,
    runAt: instant(job.runAt),
    createdAt: instant(job.createdAt),
    claimedAt: instant(job.claimedAt),
  };
}

function inOrderOfStart(rows: readonly (Row | undefined)[]): Partial<Row>[] {
  const found = rows.flatMap((row) => row ?? []);
  found.sort((a, b) => a.priority - b.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1));
  return found.map((row) => {
    const { id, claimToken, type, payload, priority, attempts, maxAttempts, claims, crashes } = row;
    const { dedupeKey, progress, trace } = row;
    const instant = (at: number | null) => Math.floor((at ?? Number.NaN) / MILLISECOND);
    return {
      ...{ id, claimToken, type, payload, priority, attempts, maxAttempts, claims, crashes },
      ...{ dedupeKey, progress, trace },
      runAt: instant(row.runAt),
      createdAt: instant(row.createdAt),
      claimedAt: instant(row.claimedAt),
    };
  });
}
