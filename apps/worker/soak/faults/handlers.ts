/** Faults of handlers that take their whole worker with them, so that they are drawn apart from the load. */
import type { Behaviour } from '../contracts.ts';
import { pause, type Fault } from './fault.ts';

export const blockedLoop = misbehaving('event loop blocked', 'computes');
export const careless = misbehaving('rejection that nobody awaits', 'careless');

function misbehaving(kind: string, behaviour: Behaviour): Fault {
  return {
    kind,
    async inflict({ enqueuer }, random) {
      // Other faults may be under way, and the enqueuer rolls some back.
      while ((await enqueuer.enqueueTogether([behaviour], random)) !== 'committed')
        await pause(random, 100, 300);
    },
  };
}
