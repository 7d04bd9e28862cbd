/**
 * The scenarios, by the names of the published sweep, with its replicas and workers. Its rates (600, 800 and 1,200 jobs a
 * second) are one here, which the run is told; its target depth of 4,000 is kept.
 */
import { activeReaders } from './faults/active-readers.ts';
import { backendKill } from './faults/backend-kill.ts';
import { crash } from './faults/crash.ts';
import { highLoad } from './faults/high-load.ts';
import { idleInTransaction } from './faults/idle-in-transaction.ts';
import { poolExhaustion } from './faults/pool-exhaustion.ts';
import { postgresRestart } from './faults/postgres-restart.ts';
import { repeatedKills } from './faults/repeated-kills.ts';
import type { Scenario } from './scenario.ts';

const ONE = { replicas: 1, workers: 32, load: 'fixed' } as const;
const TWO = { ...ONE, replicas: 2 };

const throughput = [4, 16, 64, 256].map((workers): Scenario => ({
  name: `throughput_${workers}`,
  replicas: 1,
  workers,
  load: 'depth-target',
  fault: undefined,
}));

export const SCENARIOS: readonly Scenario[] = [
  ...throughput,
  { ...ONE, name: 'postgres_restart', fault: postgresRestart },
  { ...ONE, name: 'pg_backend_kill', fault: backendKill },
  { ...ONE, name: 'pool_exhaustion', fault: poolExhaustion },
  { ...TWO, name: 'crash_recovery', fault: crash },
  { ...TWO, name: 'repeated_kills', fault: repeatedKills },
  { ...ONE, name: 'idle_in_tx', fault: idleInTransaction },
  { ...ONE, name: 'sustained_high_load', fault: highLoad(1.5) },
  { ...ONE, name: 'active_readers', fault: activeReaders },
  // The harness bursts to one and a half times as well, for longer. In a minute, that is no burst: this is more than two
  // cores can take.
  { ...ONE, name: 'event_burst', workers: 64, fault: highLoad(8) },
];
