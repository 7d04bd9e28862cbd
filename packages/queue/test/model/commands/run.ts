/** What a handler does inside a transaction of its own: `ctx.complete(tx)` and `ctx.assertClaim(tx)`. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { QueueClient } from '../../../src/client.ts';
import { ClaimLostError } from '../../../src/errors.ts';
import { cancel } from '../../../src/operate.ts';
import { renewLeases } from '../../../src/renew-leases.ts';
import { settleRuns } from '../../../src/settle-runs.ts';
import { nameOf } from '../../../src/store/fence.ts';
import { writeProgress } from '../../../src/store/progress.ts';
import { contextOf } from '../context.ts';
import { heldRow } from '../moves/move.ts';
import { settleMove } from '../moves/settle.ts';
import { command, step, type Claim, type World } from '../world.ts';
import { aClaim, keepCompleted, pickClaim } from './kinds.ts';

/** While the transaction holds the row, what everybody else does passes it by. Then it commits, or does not. */
export const runCommand = fc
  .record({
    claim: aClaim,
    method: fc.constantFrom('complete', 'assertClaim'),
    result: fc.constantFrom(undefined, 1, { done: true }),
    keepCompleted,
    commits: fc.boolean(),
  })
  .map(({ claim: picked, method, result, keepCompleted: keeps, commits }) =>
    command(
      `ctx.${method}(${fc.stringify({ claim: picked, result, keeps, commits })})`,
      async (world, real) => {
        const claim = pickClaim(world, picked);
        await step(world, real, {
          cause: method === 'complete' ? 'settle' : 'hold',
          commits,
          async act(tx, now) {
            const options = { keepCompleted: keeps };
            const { context, fenced } = contextOf(tx, claim, options);
            const isHeld = heldRow(world.table, claim) !== undefined;
            const writing = method === 'complete' ? context.complete(tx, result) : context.assertClaim(tx);
            const error = await writing.catch((thrown: unknown) => thrown);
            if (!isHeld) {
              expect(error).toBeInstanceOf(ClaimLostError);
              expect(fenced).toMatchObject([{ op: method === 'complete' ? 'complete' : 'assert_claim' }]);
              return world.table;
            }
            expect(error).toBeUndefined();
            expect(fenced).toEqual([]);
            await expectPassedBy(real.prisma, claim);
            if (method === 'assertClaim') return world.table;
            const stored = result === undefined ? null : JSON.stringify(result);
            const outcome = { outcome: 'completed', result: stored } as const;
            const ended = { ...claim, outcome, completing: false, ...options };
            return settleMove(world.table, now, ended).table;
          },
        });
        if (method === 'complete') rememberCompleting(world, claim);
      },
      (world) => world.claims.length > 0,
    ),
  );

async function expectPassedBy(others: QueueClient, claim: Claim): Promise<void> {
  const { id, claimToken } = claim;
  const [renewal] = await renewLeases(others, [{ id, claimToken, leaseMs: 1_000 }]);
  expect(renewal?.renewal).toBe('locked');
  expect(await writeProgress(others, claim, '"passed by"')).toBe('locked');
  expect(await cancel(others, id)).toEqual({ outcome: 'busy' });
  const settlement = { settle: 'release' } as const;
  const unsettled = await settleRuns(others, [{ ...claim, settlement, completing: false }]);
  expect(unsettled).toEqual({ lost: [], locked: [{ id, claimToken }] });
}

function rememberCompleting(world: World, completed: Claim): void {
  world.claims = world.claims.map((claim) =>
    nameOf(claim) === nameOf(completed) ? { ...claim, completing: true } : claim,
  );
}
