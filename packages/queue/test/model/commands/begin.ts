/** How every sequence begins: three jobs, two of them claimed, so that there is something to be done from the first. */
import type { Real, World } from '../world.ts';
import { claim } from './claim.ts';
import { enqueue } from './enqueue.ts';
import { kindOf } from './kinds.ts';

const TYPE = 'model.a';

export async function begin(world: World, real: Real): Promise<void> {
  const item = { when: 'at once', priority: 'normal', dedupeKey: null } as const;
  const items = [item, { ...item, dedupeKey: 'k' } as const, item];
  await enqueue(world, real, { type: TYPE, limits: { maxAttempts: 25, maxCrashes: 25 }, items }, true);
  const wanted = [{ ...kindOf(TYPE), slots: 2 }];
  await claim(world, real, { workerId: 'worker-1', wanted, capacity: 2 }, true);
}
