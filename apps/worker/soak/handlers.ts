/**
 * What the soak's jobs do. Each run says when its handler has ended and when one of its writes was refused, so that the
 * judge can hold the worker's own log against it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { PrismaClient } from '@fencepost/db';
import { DiscardError, handle, SnoozeError, type JobContext, type JobHandler } from '@fencepost/queue';
import { CARELESS_MESSAGE, CONTRACTS, LEASE_MS, type Behaviour, type SoakPayload } from './contracts.ts';
import { CLAIM_WAS_LOST, RUN_ENDED } from './messages.ts';
import { ODD_VALUES } from './odd-values.ts';
import { recordEffect, recordOutside } from './store/effects.ts';

/** Handlers that never return keep their slots, and a worker is to have some left. */
const MOST_NEVER_RETURNING = 2;

type Run = (payload: SoakPayload, ctx: JobContext) => Promise<void>;

export function soakHandlers(prisma: PrismaClient): JobHandler[] {
  let neverReturning = 0;

  const runs: Record<Behaviour, Run> = {
    async effect({ ms }, ctx) {
      await delay(ms, undefined, { signal: ctx.signal });
      await complete(ctx);
    },
    async long({ ms }, ctx) {
      for (const part of [1, 2, 3, 4]) {
        await delay(ms / 4, undefined, { signal: ctx.signal });
        await noting(ctx, 'progress', () => ctx.progress({ part }));
      }
      await noting(ctx, 'assert_claim', () => prisma.$transaction((tx) => ctx.assertClaim(tx)));
      await complete(ctx);
    },
    async plain({ ms }, ctx) {
      await recordOutside(prisma, ctx.job.id, ctx.fence);
      await delay(ms, undefined, { signal: ctx.signal });
    },
    async computes({ ms, turns }, ctx) {
      if (ctx.fence <= turns) compute(LEASE_MS + ms);
      await complete(ctx);
    },
    async throws({ ms, turns }, ctx) {
      if (ctx.fence > turns) return complete(ctx);
      if (ms % 2 === 0) await delay(ms);
      throw ODD_VALUES[(ms + ctx.fence) % ODD_VALUES.length]!();
    },
    async late({ ms, turns }, ctx) {
      // The last one is still under way when those before it come back.
      await (ctx.fence <= turns
        ? delay(CONTRACTS.late.timeoutMs + ms)
        : delay(ms, undefined, { signal: ctx.signal }));
      await complete(ctx);
    },
    async never({ turns }, ctx) {
      if (ctx.fence > turns || neverReturning === MOST_NEVER_RETURNING) return complete(ctx);
      neverReturning++;
      await new Promise(() => {});
    },
    async careless({ ms, turns }, ctx) {
      if (ctx.fence <= turns) void delay(ms).then(() => Promise.reject(new Error(CARELESS_MESSAGE)));
      await delay(ms / 2);
      await complete(ctx);
    },
    async snoozes({ ms, turns }, ctx) {
      if (ctx.fence <= turns) throw new SnoozeError(ms);
      await complete(ctx);
    },
    async doomed({ ms }) {
      await delay(ms);
      throw new Error('it always fails');
    },
    async discards({ ms }) {
      await delay(ms);
      throw new DiscardError('not worth another try');
    },
  };

  async function complete(ctx: JobContext): Promise<void> {
    await noting(ctx, 'complete', () =>
      prisma.$transaction(async (tx) => {
        // Before its completion, so that a refused one has something to take back.
        await recordEffect(tx, ctx.job.id, ctx.fence);
        await ctx.complete(tx, { fence: ctx.fence });
      }),
    );
  }

  return Object.entries(runs).map(([behaviour, run]) =>
    handle(CONTRACTS[behaviour as Behaviour], async (payload, ctx) => {
      try {
        await run(payload, ctx);
      } finally {
        ctx.logger.info({ fence: ctx.fence }, RUN_ENDED);
      }
    }),
  );
}

async function noting(ctx: JobContext, op: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const isLoss = (error as { code?: unknown }).code === 'CLAIM_LOST';
    if (isLoss) ctx.logger.info({ op, fence: ctx.fence }, CLAIM_WAS_LOST);
    throw error;
  }
}

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
