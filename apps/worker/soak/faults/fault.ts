/** What every kind of fault is: something done to the world for a while, and mended by its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakDatabase } from '../database.ts';
import type { Enqueuer } from '../enqueuer.ts';
import type { Fleet } from '../fleet.ts';
import type { Ledger } from '../ledger.ts';
import type { Proxy } from '../proxy.ts';
import type { Random } from '../random.ts';

export interface World {
  readonly database: SoakDatabase;
  readonly fleet: Fleet;
  readonly enqueuer: Enqueuer;
  readonly ledger: Ledger;
  /** Every way to the database: one a worker's place, and the enqueuer's. */
  readonly proxies: readonly Proxy[];
}

export interface Fault {
  readonly kind: string;
  /** Resolves when it is over. What it draws comes from `random` alone. */
  inflict(world: World, random: Random): Promise<void>;
}

export function pause(random: Random, minMs: number, maxMs: number): Promise<void> {
  return sleep(random.whole(minMs, maxMs));
}
