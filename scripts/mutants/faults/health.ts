/** Health: what is illness and what is not, and what follows from it. */
import type { Fault } from '../fault.ts';

const health = 'apps/worker/src/health.ts';
const healthTest = ['apps/worker/test/health.test.ts'];
const watchdogTest = ['apps/worker/test/watchdog.test.ts'];
const statusTest = ['apps/worker/test/status-server.test.ts'];

export const healthFaults: readonly Fault[] = [
  {
    name: 'health/busy-is-ill',
    breaks: 'long jobs in every slot are no illness',
    file: health,
    replace: 'held.ignoringAbort(clock.now(), IGNORES_ABORT_AFTER_MS) === held.capacity',
    by: 'held.running().length === held.capacity',
    tests: healthTest,
    only: 'long jobs in every slot',
  },
  {
    name: 'health/one-deaf-handler-is-illness',
    breaks: 'one slot that is left is enough',
    file: health,
    replace: 'IGNORES_ABORT_AFTER_MS) === held.capacity',
    by: 'IGNORES_ABORT_AFTER_MS) > 0',
    tests: healthTest,
    only: 'one slot that is left',
  },
  {
    name: 'health/deaf-handlers-are-well',
    breaks: 'every slot held by a deaf handler is illness',
    file: health,
    replace: 'IGNORES_ABORT_AFTER_MS) === held.capacity',
    by: 'IGNORES_ABORT_AFTER_MS) > held.capacity',
    tests: healthTest,
    only: 'every slot held',
  },
  {
    name: 'health/stopped-loop-is-well',
    breaks: 'a loop that does not come round is illness',
    file: health,
    replace: 'if (!draining && loopIdleMs >',
    by: 'if (draining && loopIdleMs >',
    tests: healthTest,
    only: 'does not come round',
  },
  {
    name: 'health/absent-database-is-well',
    breaks: 'a database that stays away is illness',
    file: health,
    replace: 'if (databaseFailingMs > DATABASE_LIMIT_MS)',
    by: 'if (databaseFailingMs < 0)',
    tests: healthTest,
    only: 'stays away',
  },
  {
    name: 'health/no-claims-is-well',
    breaks: 'a database that lets no claim through is illness',
    file: health,
    replace: 'database.claimsFailingForMs() > DATABASE_LIMIT_MS',
    by: 'database.claimsFailingForMs() < 0',
    tests: healthTest,
    only: 'lets no claim through',
  },
  {
    name: 'health/always-200',
    breaks: '/healthz is 503 for an unhealthy worker',
    file: 'apps/worker/src/status-server.ts',
    replace: 'report.healthy ? 200 : 503',
    by: 'report.healthy ? 200 : 200',
    tests: statusTest,
    only: 'green or red',
  },
  {
    name: 'health/ready-while-draining',
    breaks: '/readyz is 503 for a worker that drains',
    file: 'apps/worker/src/status-server.ts',
    replace: '!report.draining && ',
    by: '',
    tests: statusTest,
    only: 'readyz',
  },
  {
    name: 'health/never-gives-up',
    breaks: 'a worker that stays unhealthy ends by itself',
    file: 'apps/worker/src/watchdog.ts',
    replace: '>= ILL_FOR_MS',
    by: '>= 1_000 * ILL_FOR_MS',
    tests: watchdogTest,
    only: 'gives up once',
  },
  {
    name: 'health/recovery-forgotten',
    breaks: 'a moment of health starts the count anew',
    file: 'apps/worker/src/watchdog.ts',
    replace: 'illSince = healthy ? undefined : (illSince ?? clock.now());',
    by: 'if (!healthy) illSince ??= clock.now();',
    tests: watchdogTest,
    only: 'a moment of health',
  },
];
