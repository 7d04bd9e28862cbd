import fc from 'fast-check';
import { expect } from 'vitest';
import { renewLeases } from '../../../src/renew-leases.ts';
import { nameOf } from '../../../src/store/fence.ts';
import { writeProgress } from '../../../src/store/progress.ts';
import type { Renewal } from '../../../src/store/renew.ts';
import { progressMove, renewMove } from '../moves/lease.ts';
import { command, pick, step, type World } from '../world.ts';
import { claimedTwice } from './settle.ts';
import { aClaim, commits, drawn, pickClaim } from './kinds.ts';

const hasClaims = (world: Readonly<World>) => world.claims.length > 0;

/** Some claims, stale ones among them; where a row was claimed twice, its last two as well: two tokens of one row. */
export const renewCommand = fc
  .record({
    claims: fc.array(aClaim, { minLength: 1, maxLength: 4 }),
    twice: fc.option(drawn),
    leaseMs: fc.constantFrom(30_000, 600_000),
    commits,
  })
  .map(({ claims, twice, leaseMs, commits: doesCommit }) =>
    command(
      `renew(${fc.stringify({ claims, twice, leaseMs, doesCommit })})`,
      (world, real) => {
        const picked = new Set(claims.map((claim) => pickClaim(world, claim)));
        const both = claimedTwice(world);
        if (twice !== null && both.length > 0) {
          for (const claim of pick(both, twice).slice(-2)) picked.add(claim);
        }
        const leases = [...picked].map(({ id, claimToken }, n) => ({
          id,
          claimToken,
          leaseMs: leaseMs + n * 1_000,
        }));
        return step(world, real, {
          cause: 'renew',
          commits: doesCommit,
          async act(tx, now) {
            let table = world.table;
            const expected = leases.map((lease) => {
              const moved = renewMove(table, now, lease);
              table = moved.table;
              return moved.report;
            });
            expect(sorted(await renewLeases(tx, leases))).toEqual(sorted(expected));
            return table;
          },
        });
      },
      hasClaims,
    ),
  );

export const progressCommand = fc
  .record({ claim: aClaim, value: fc.constantFrom('1', '{"done":2}', 'null'), commits })
  .map(({ claim, value, commits: doesCommit }) =>
    command(
      `progress(${fc.stringify(claim)}, ${value}, commits ${doesCommit})`,
      (world, real) =>
        step(world, real, {
          cause: 'progress',
          commits: doesCommit,
          async act(tx) {
            const fence = pickClaim(world, claim);
            const { table, report } = progressMove(world.table, fence, JSON.parse(value));
            expect(await writeProgress(tx, fence, value)).toBe(report);
            return table;
          },
        }),
      hasClaims,
    ),
  );

function sorted(renewals: readonly Renewal[]) {
  return renewals.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
