/** The types of the model's jobs, and small arbitraries that several commands draw from. */
import fc from 'fast-check';
import type { Outcome } from '../../../src/core/decide.ts';
import type { Wanted } from '../../../src/store/claim.ts';
import { pick, type Claim, type Standing, type World } from '../world.ts';

/** Leases and delays are long enough that no time passes but by a command. */
const KINDS: readonly Omit<Wanted, 'slots'>[] = [
  { type: 'model.a', leaseMs: 60_000, retry: { baseMs: 60_000, maxMs: 100_000 } },
  { type: 'model.b', leaseMs: 120_000, retry: { baseMs: 90_000, maxMs: 3_600_000 } },
  { type: 'model.c', leaseMs: 300_000, retry: { baseMs: 3_600_000, maxMs: 3_600_000 } },
];

export function kindOf(type: string): Omit<Wanted, 'slots'> {
  const found = KINDS.find((one) => one.type === type);
  if (!found) throw new Error(`no kind of the model has type ${type}`);
  return found;
}

export const kind = fc.constantFrom(...KINDS);

export const kinds = fc.oneof(
  fc.shuffledSubarray([...KINDS], { minLength: KINDS.length }),
  fc.shuffledSubarray([...KINDS], { minLength: 1 }),
);

/** Most transactions commit. */
export const commits = fc.integer({ min: 0, max: 7 }).map((drawn) => drawn < 7);

/** Workers of one queue need not agree on it. */
export const keepCompleted = fc.boolean();

export const drawn = fc.nat({ max: 1_000 });

/** One of the claims that were ever made. */
export const aClaim = fc.record({
  drawn,
  standing: fc.constantFrom<Standing[]>('current', 'current', 'superseded', 'superseded', 'any'),
});

export function pickClaim(
  world: World,
  { drawn: number, standing }: { drawn: number; standing: Standing },
): Claim {
  return pick(world.claimsThatAre(standing), number);
}

const thrown = fc.constantFrom(
  { message: 'no luck', stack: 'Error: no luck\n    at handler' },
  { message: 'no stack', stack: null },
);

export const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  {
    arbitrary: fc
      .constantFrom('{"n":1}', 'null', null)
      .map((result): Outcome => ({ outcome: 'completed', result })),
    weight: 3,
  },
  {
    arbitrary: thrown.map((what): Outcome => ({ outcome: 'failed', kind: 'failed', thrown: what })),
    weight: 3,
  },
  thrown.map((what): Outcome => ({ outcome: 'failed', kind: 'timeout', thrown: what })),
  thrown.map((what): Outcome => ({ outcome: 'discarded', thrown: what })),
  thrown.map((what): Outcome => ({ outcome: 'cancelled', thrown: what })),
  fc.constantFrom(0, 60_000).map((delayMs): Outcome => ({ outcome: 'snoozed', delayMs })),
  fc.constant<Outcome>({ outcome: 'released' }),
);
