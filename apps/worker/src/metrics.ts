/**
 * What Prometheus scrapes. Counters are of this process; the backlog is the table's, so that every worker reports the
 * same. Names and labels are part of the interface: docs/operations.md lists them.
 */
import { FENCED_OPS } from '@fencepost/queue/protocol';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  let slotsTaken = () => 0;
  const running = new Gauge({
    registers,
    name: 'fencepost_running',
    help: 'Slots taken in this process',
    // When it is scraped, and not whenever it changes.
    collect() {
      this.set(slotsTaken());
    },
  });

  const metrics = {
    registry,
    observeRunning(taken: () => number): void {
      slotsTaken = taken;
    },
    claimed: new Counter({
      registers,
      name: 'fencepost_claimed_total',
      help: 'Jobs claimed',
      labelNames: ['type'] as const,
    }),
    settled: new Counter({
      registers,
      name: 'fencepost_settled_total',
      help: 'Runs settled, by what became of them',
      labelNames: ['type', 'settle'] as const,
    }),
    fenced: new Counter({
      registers,
      name: 'fencepost_fenced_total',
      help: 'Writes of runs that had lost their claim; they changed nothing',
      labelNames: ['op'] as const,
    }),
    reclaimed: new Counter({
      registers,
      name: 'fencepost_reclaimed_total',
      help: 'Jobs whose lease had run out, by the state that the sweep gave them',
      labelNames: ['type', 'state'] as const,
    }),
    abandoned: new Counter({
      registers,
      name: 'fencepost_settlements_abandoned_total',
      help: 'Settlements that the database did not take before the lease was over; left to the sweep',
    }),
    databaseErrors: new Counter({
      registers,
      name: 'fencepost_database_errors_total',
      help: 'Statements of the worker that failed',
      labelNames: ['statement'] as const,
    }),
    deleted: new Counter({
      registers,
      name: 'fencepost_deleted_total',
      help: 'Finished jobs that the cleanup deleted',
    }),
    waited: new Histogram({
      registers,
      name: 'fencepost_wait_seconds',
      help: 'From when a job was due to its claim, by the clock of the database',
      labelNames: ['type'] as const,
      buckets: SECONDS,
    }),
    ran: new Histogram({
      registers,
      name: 'fencepost_run_seconds',
      help: 'From the start of a run to its outcome',
      labelNames: ['type'] as const,
      buckets: SECONDS,
    }),
    running,
    slots: new Gauge({ registers, name: 'fencepost_slots', help: 'Slots of this process' }),
    listening: new Gauge({
      registers,
      name: 'fencepost_listening',
      help: '1 while wake-ups arrive, 0 while polling alone',
    }),
    backlog: new Gauge({
      registers,
      name: 'fencepost_backlog',
      help: 'Pending jobs: due, or scheduled for later',
      labelNames: ['type', 'when'] as const,
    }),
    oldestDue: new Gauge({
      registers,
      name: 'fencepost_oldest_due_seconds',
      help: 'How long the oldest due job has been due',
      labelNames: ['type'] as const,
    }),
    vacuumHeldBack: new Gauge({
      registers,
      name: 'fencepost_vacuum_held_back_seconds',
      help: 'How long the oldest open transaction has kept vacuum from removing what it may still see',
    }),
  };
  // From the start, so that a rate over them is not blind to the first one.
  for (const op of FENCED_OPS) metrics.fenced.inc({ op }, 0);
  metrics.abandoned.inc(0);
  return metrics;
}
