/** Faults of the network between one process, or all of them, and the database. */
import type { Proxy } from '../proxy.ts';
import type { Random } from '../random.ts';
import { pause, type Fault, type World } from './fault.ts';

export const cut: Fault = {
  kind: 'network cut',
  async inflict(world, random) {
    for (const proxy of some(world, random)) proxy.cut();
  },
};

/** For longer than a lease as well; half of the time what was kept back comes through in the end. */
export const stall: Fault = {
  kind: 'network stalled',
  async inflict(world, random) {
    const proxies = some(world, random);
    for (const proxy of proxies) proxy.stall();
    await pause(random, 300, 4_000);
    if (random.chance(0.5)) proxies.forEach((proxy) => proxy.cut());
    for (const proxy of proxies) proxy.resume();
  },
};

export const delay: Fault = {
  kind: 'network slow',
  async inflict(world, random) {
    const proxies = some(world, random);
    for (const proxy of proxies) proxy.delay(random.whole(20, 250));
    await pause(random, 500, 3_000);
    for (const proxy of proxies) proxy.delay(0);
  },
};

function some({ proxies }: World, random: Random): readonly Proxy[] {
  return random.chance(0.2) ? proxies : [random.pick(proxies)];
}
