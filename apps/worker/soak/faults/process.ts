/** Faults of processes: killed, frozen for less and for more than a lease, deployed over, with a clock that jumps. */
import { LEASE_MS, RECLAIM_GRACE_MS } from '../contracts.ts';
import { pause, type Fault } from './fault.ts';

export const kill: Fault = {
  kind: 'SIGKILL',
  async inflict({ fleet }, random) {
    fleet.signal(await fleet.pick(random), 'SIGKILL');
  },
};

export const freezeShortly = freeze('SIGSTOP within the lease', 100, LEASE_MS / 2);
export const freezeForLong = freeze(
  'SIGSTOP past the lease',
  LEASE_MS + RECLAIM_GRACE_MS + 500,
  LEASE_MS + RECLAIM_GRACE_MS + 1_500,
);

export const deploy: Fault = {
  kind: 'SIGTERM and a replacement',
  async inflict({ fleet }, random) {
    const worker = await fleet.pick(random);
    fleet.deploy(worker);
    if (!random.chance(0.3)) return;
    // Whoever deploys has no patience.
    await pause(random, 50, 1_000);
    fleet.signal(worker, 'SIGTERM');
  },
};

export const moveClock: Fault = {
  kind: 'clock moved',
  async inflict({ fleet }, random) {
    fleet.signal(await fleet.pick(random), 'SIGUSR2');
  },
};

function freeze(kind: string, minMs: number, maxMs: number): Fault {
  return {
    kind,
    async inflict({ fleet }, random) {
      const worker = await fleet.pick(random);
      fleet.signal(worker, 'SIGSTOP');
      await pause(random, minMs, maxMs);
      fleet.signal(worker, 'SIGCONT');
    },
  };
}
