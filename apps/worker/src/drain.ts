/**
 * The drain: what a worker does between being told to stop and having stopped. Afterwards no row is running that nobody
 * runs, and no job was charged an attempt that it did not use.
 */
import { DrainDeadlineError, type Logger } from '@fencepost/queue';
import { within, type Clock } from './clock.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { HeldRuns } from './held-runs.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { Maintenance } from './maintenance.ts';
import type { PollLoop } from './poll-loop.ts';
import type { Wake } from './wake.ts';

/** What handlers get between their signal's abort and being given up: time to close what they have open. */
const MOMENT_MS = 1_000;
/** What the database gets to take the last settlements, and then to end what else is under way. */
const LAST_WRITES_MS = 2_000;
/** So much longer than its timeout a drain may take. */
export const DRAIN_TAIL_MS = MOMENT_MS + 2 * LAST_WRITES_MS;

export interface DrainParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly loop: PollLoop;
  readonly dispatcher: Dispatcher;
  readonly held: HeldRuns;
  readonly keeper: LeaseKeeper;
  readonly maintenance: Maintenance;
  readonly wake: Wake | undefined;
  /** Tells handlers to reach a checkpoint. */
  readonly draining: AbortController;
}

/**
 * @param timeoutMs how long runs are waited for. The whole drain takes at most `DRAIN_TAIL_MS` longer.
 * @param hurry resolves to end that wait at once.
 */
export async function drain(parts: DrainParts, timeoutMs: number, hurry: Promise<void>): Promise<void> {
  const { clock, logger, loop, dispatcher, held, keeper, maintenance, wake, draining } = parts;
  logger.info({ running: held.taken, timeoutMs }, 'drain begins');

  draining.abort();
  const maintenanceStopped = maintenance.stop();
  // A claim in flight may have committed already: its rows are this worker's, and are handed back when it is answered.
  const claimAnswered = loop.stop();
  dispatcher.handBackWaiting();
  const empty = claimAnswered.then(() => held.empty());
  await within(clock, timeoutMs, Promise.race([empty, hurry]));

  const unfinished = held.running();
  for (const { run } of unfinished) run.stop(new DrainDeadlineError());
  await within(clock, MOMENT_MS, empty);
  const released = held.running();
  for (const { run } of released) run.release();

  // Leases are renewed up to here, so that no run is lost while it is waited for.
  await within(
    clock,
    LAST_WRITES_MS,
    claimAnswered.then(() => held.allSettled()),
  );
  await within(clock, LAST_WRITES_MS, Promise.all([keeper.stop(), maintenanceStopped, wake?.stop()]));

  const leftToSweep = held.claims().map(({ job }) => job.id);
  if (leftToSweep.length > 0)
    logger.error({ ids: leftToSweep }, 'drain could not hand back every claim, left to the sweep');
  logger.info({ stopped: unfinished.length, released: released.length }, 'drain ended');
}
