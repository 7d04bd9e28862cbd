/** What a measured fleet says of the costs that the model goes by. Undefined where the server's CPU is not to be had. */
import type { FleetResult } from './measure-fleet.ts';
import type { Costs } from './model.ts';
import type { Reading } from './reading.ts';

export function costsOf({ workers, idle, woken, load }: FleetResult): Costs | undefined {
  if (idle.cpuMs === undefined || woken.cpuMs === undefined || load.cpuMs === undefined) return undefined;
  const idleSecond = idle.cpuMs / idle.seconds / workers;
  const beyondIdle = (reading: Reading, cpuMs: number) =>
    Math.max(0, cpuMs - idleSecond * workers * reading.seconds);
  const { calls, planMs, execMs } = load.statements.renew;
  return {
    idleSecond,
    emptyLook:
      beyondIdle(woken, woken.cpuMs) / Math.max(1, looksWhileWoken({ idle, woken }) - woken.enqueued),
    job: beyondIdle(load, load.cpuMs) / load.completed,
    renewal: calls === 0 ? 0 : (planMs + execMs) / calls,
    walBytes: load.walBytes / load.completed,
  };
}

/** Claims that single jobs have set off, beyond what idle workers make. */
export function looksWhileWoken({ idle, woken }: Pick<FleetResult, 'idle' | 'woken'>): number {
  return woken.statements.claim.calls - (idle.statements.claim.calls / idle.seconds) * woken.seconds;
}

/** Claims that found nothing. */
export function emptyClaimsOf({ statements, waits }: FleetResult['load']): number {
  return Math.max(0, statements.claim.calls - waits.claims);
}
