/**
 * The model and the real store side by side. Every command is one transaction of the store, whose now() the model is
 * told, so that it can say every instant to the microsecond; after it, the whole table is compared.
 */
import type { createPrisma } from '@fencepost/db';
import type { AsyncCommand } from 'fast-check';
import { expect } from 'vitest';
import type { QueueClient } from '../../src/client.ts';
import type { ClaimedJob } from '../../src/store/claimed-jobs.ts';
import { expectLawful, expectSound, type Cause } from './invariants.ts';
import { EMPTY, listed, readNow, readTable, type Instant, type Row, type Table } from './table.ts';

/** A claim as the worker remembers it, which may long be over. */
export interface Claim extends ClaimedJob {
  /** Its run called `ctx.complete(tx)`, whether or not that transaction committed. */
  readonly completing: boolean;
}

export interface Real {
  readonly prisma: ReturnType<typeof createPrisma>;
}

export class World {
  table: Table = EMPTY;
  /** Every claim ever made, the oldest first. */
  claims: Claim[] = [];
  /** Every job ever made: some are gone. */
  readonly ids = new Set<string>();

  get rows(): Row[] {
    return listed(this.table);
  }

  isCurrent({ id, claimToken }: Claim): boolean {
    return this.table.get(id)?.claimToken === claimToken;
  }

  /** Claims that hold their row; or whose row runs under another claim; or all. All, where there is none. */
  claimsThatAre(standing: Standing): Claim[] {
    const isFound = (claim: Claim) => {
      if (standing === 'any') return true;
      if (standing === 'current') return this.isCurrent(claim);
      return this.table.get(claim.id)?.state === 'running' && !this.isCurrent(claim);
    };
    const found = this.claims.filter(isFound);
    return found.length > 0 ? found : this.claims;
  }
}

export type Standing = 'current' | 'superseded' | 'any';

export type Command = AsyncCommand<World, Real>;

/** @param label how the command reads where fast-check prints the sequence that failed. */
export function command(
  label: string,
  run: (world: World, real: Real) => Promise<void>,
  check: (world: Readonly<World>) => boolean = () => true,
): Command {
  return { toString: () => label, check, run };
}

interface Step {
  readonly cause: Cause;
  /** Whether its transaction commits; true where nothing is said. */
  readonly commits?: boolean;
  /** Does it for real, looks at what the store says, and returns the table that the model expects. */
  readonly act: (tx: QueueClient, now: Instant) => Promise<Table>;
}

export async function step(world: World, { prisma }: Real, { cause, commits = true, act }: Step) {
  let expected = world.table;
  const transaction = prisma.$transaction(async (tx) => {
    expected = await act(tx, await readNow(tx));
    if (!commits) throw new RollBack();
  });
  await transaction.catch((error: unknown) => {
    if (!(error instanceof RollBack)) throw error;
    expected = world.table;
  });

  const found = await readTable(prisma);
  expectSound(found);
  expectLawful(world.table, found, cause);
  expect(listed(found)).toEqual(listed(expected));
  world.table = found;
  for (const id of found.keys()) world.ids.add(id);
}

/** The item that a drawn number means. */
export function pick<T>(items: readonly T[], drawn: number): T {
  const item = items[drawn % items.length];
  if (item === undefined) throw new Error('nothing to pick from: the check of the command let it through');
  return item;
}

class RollBack extends Error {}
