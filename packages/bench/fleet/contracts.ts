/** The one job of the fleet: a wait as long as its payload says. */
import { defineJob } from '@fencepost/queue';
import { z } from 'zod';

export const wait = defineJob({
  type: 'fleet.wait',
  payload: z.object({ ms: z.int(), tenant: z.string() }),
});

/** Of ten jobs nine are short, as a call to another service is, and one is long enough for its lease to be renewed. */
const SHORT_MS = 200;
const LONG_MS = 12_000;
const LONG_EVERY = 10;

export function msOf(nth: number): number {
  return nth % LONG_EVERY === LONG_EVERY - 1 ? LONG_MS : SHORT_MS;
}
