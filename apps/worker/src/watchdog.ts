/**
 * Ends a worker that stays ill. A failing health check restarts nothing on Fly, an exit does; and a worker whose slots
 * are all held by handlers that never return, or that has lost its database for good, is better started anew.
 */
import type { Logger } from '@fencepost/queue';
import type { Clock } from './clock.ts';
import type { HealthReport } from './health.ts';

const CHECK_MS = 5_000;
const ILL_FOR_MS = 120_000;

/** @param giveUp called once, when the worker has been unhealthy for two minutes without a pause. */
export function startWatchdog(
  clock: Clock,
  logger: Logger,
  health: () => HealthReport,
  giveUp: (problems: readonly string[]) => void,
): { stop(): void } {
  let illSince: number | undefined;
  let cancel = () => {};
  const check = () => {
    const { healthy, problems, databaseFault } = health();
    if (!healthy && illSince === undefined) logger.error({ problems, databaseFault }, 'worker is unhealthy');
    if (healthy && illSince !== undefined) logger.info({}, 'worker is healthy again');
    illSince = healthy ? undefined : (illSince ?? clock.now());
    if (illSince !== undefined && clock.now() - illSince >= ILL_FOR_MS) return giveUp(problems);
    cancel = clock.after(CHECK_MS, check);
  };
  check();
  return { stop: () => cancel() };
}
