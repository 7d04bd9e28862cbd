/**
 * The job types of the soak, one a way in which a handler behaves or misbehaves. Their times are short, so that a few
 * seconds hold many lives of a job.
 */
import { defineJob, type JobDefinition } from '@fencepost/queue';
import { z } from 'zod';

/** A lease that runs out is left alone for this long (packages/queue/src/core/limits.ts), and then comes a sweep. */
export const RECLAIM_GRACE_MS = 2_000;
export const LEASE_MS = 2_000;
export const SWEEP_INTERVAL_MS = 300;

/** So often a doomed job is tried. */
export const DOOMED_ATTEMPTS = 3;

/** What is thrown where nobody waits for it. It ends its worker, and nothing else may. */
export const CARELESS_MESSAGE = 'nobody waits for this';

const PAYLOAD = z.object({
  /** How long a run takes. */
  ms: z.number(),
  /** It misbehaves while the number of its claim is at most this, and completes after that. */
  turns: z.number(),
});
export type SoakPayload = z.infer<typeof PAYLOAD>;

type Settings = Partial<Omit<JobDefinition<typeof PAYLOAD>, 'type' | 'payload'>>;

const define = (behaviour: string, settings: Settings = {}) =>
  defineJob({
    type: `soak.${behaviour}`,
    payload: PAYLOAD,
    lease: LEASE_MS,
    timeout: '10s',
    retry: { base: '50ms', max: '500ms' },
    // What only faults keep from its end is never given up.
    maxAttempts: 1_000,
    maxCrashes: 1_000,
    ...settings,
  });

export const CONTRACTS = {
  /** Writes its effect and completes in one transaction. */
  effect: define('effect', { lease: '1s' }),
  /** The same for several leases, with progress, and with a transaction before the last one. */
  long: define('long'),
  /** Has an effect outside of its completion, and returns. */
  plain: define('plain', { lease: '1s' }),
  /** Blocks the event loop for longer than its lease. */
  computes: define('computes'),
  /** Throws or rejects with anything at all. */
  throws: define('throws'),
  /** Ignores its signal, and goes on to complete when its timeout is long over. */
  late: define('late', { timeout: '2s' }),
  /** Ignores its signal for ever. */
  never: define('never', { timeout: '1s' }),
  /** Leaves a promise behind that rejects, which ends its worker. */
  careless: define('careless'),
  snoozes: define('snoozes'),
  /** Fails as often as it is tried. */
  doomed: define('doomed', { maxAttempts: DOOMED_ATTEMPTS }),
  discards: define('discards'),
} as const;

export type Behaviour = keyof typeof CONTRACTS;

/** How a job ends that nobody cancels. */
export const END_OF: Readonly<Record<Behaviour, 'completed' | 'dead'>> = {
  effect: 'completed',
  long: 'completed',
  plain: 'completed',
  computes: 'completed',
  throws: 'completed',
  late: 'completed',
  never: 'completed',
  careless: 'completed',
  snoozes: 'completed',
  doomed: 'dead',
  discards: 'dead',
};

/** Completed by `ctx.complete(tx)`, and so with exactly one effect. */
export function completesInTransaction(behaviour: Behaviour): boolean {
  return END_OF[behaviour] === 'completed' && behaviour !== 'plain';
}
