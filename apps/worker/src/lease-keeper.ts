/**
 * Keeps the claims of this process: has them renewed, hears of cancel requests and of claims that are gone, and stops
 * believing in a claim that could not be renewed for its whole lease.
 *
 * Renewal goes on until the last run has settled, through the drain: a run that is being waited for is not lost. It
 * happens in a thread of its own (lease-renewer.ts); here is what needs the runs.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import { ClaimLostError, JobCancelledError, type Logger } from '@fencepost/queue';
import { nameOf, type Renewal } from '@fencepost/queue/protocol';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { ReportFenced } from './fenced.ts';
import { leaseIsOver, type HeldRun, type HeldRuns } from './held-runs.ts';
import {
  joinUuids,
  type ClaimedIds,
  type FromRenewer,
  type KeptLeases,
  type LeaseRenewal,
  type ToRenewer,
} from './lease-messages.ts';

/** A quarter of the shortest lease there is. */
const TICK_MS = 250;
/** Told once: a claim that is gone has no lease any more that could run out. */
const GONE = Number.POSITIVE_INFINITY;

export interface LeaseKeeperOptions {
  /** Starts whoever renews. */
  readonly renewal: () => LeaseRenewal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly reportFenced: ReportFenced;
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #renewal: LeaseRenewal | undefined;
  #ready = () => {};
  #stopTicking = () => {};

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** Resolves when leases can be renewed: nothing is to be claimed before. */
  async start(): Promise<void> {
    const { port } = (this.#renewal = this.#options.renewal());
    port.on('message', (message: FromRenewer) => this.#hear(message));
    const ready = new Promise<void>((resolve) => (this.#ready = resolve));
    const tick = () => {
      this.#stopBelieving();
      this.#tell({ say: 'held', claims: byClaim(this.#options.held.claims()) });
      this.#stopTicking = this.#options.clock.after(TICK_MS, tick);
    };
    tick();
    await ready;
  }

  async stop(): Promise<void> {
    this.#stopTicking();
    await this.#renewal?.close();
  }

  /** Before their runs start: the first of them may be one that never lets go of the main thread. */
  claimed(leases: readonly KeptLeases[]): void {
    this.#tell({ say: 'claimed', leases });
  }

  /** Renews every claim: somebody asked for a cancellation, and a renewal brings it back. */
  renewSoon(): void {
    this.#tell({ say: 'renew now' });
  }

  #tell(message: ToRenewer): void {
    this.#renewal?.port.postMessage(message);
  }

  #hear(message: FromRenewer): void {
    const { database, held } = this.#options;
    switch (message.say) {
      case 'ready':
        return this.#ready();
      case 'failed': {
        const { error } = message;
        return database.failed('renew', Object.assign(new Error(error.message), { code: error.code }));
      }
      case 'renewed': {
        database.answered('renew');
        const renewals = new Map(message.renewals.map((renewal) => [nameOf(renewal), renewal]));
        for (const run of held.claims()) {
          const renewal = renewals.get(nameOf(run.job));
          if (renewal) this.#heard(run, renewal, message.askedAt);
        }
      }
    }
  }

  #heard(held: HeldRun, { renewal, cancelRequested }: Renewal, askedAt: number): void {
    if (held.confirmedAt === GONE) return;
    if (renewal === 'lost') return this.#lost(held);
    // A locked row stands as well: the sweep passes it by.
    held.confirmedAt = Math.max(held.confirmedAt, askedAt);
    if (cancelRequested) held.run.stop(new JobCancelledError(held.job.id));
  }

  #lost(held: HeldRun): void {
    held.confirmedAt = GONE;
    // Its settlement, or the transaction of its `ctx.complete`, may be what took the claim off the row. Whether it was,
    // the settlement will tell; until then nothing is known that would be worth stopping it for.
    if (held.ended || held.run.completing()) return;
    const { job } = held;
    this.#options.reportFenced({ op: 'renew', job, lost: undefined });
    held.run.stop(new ClaimLostError(job.id, 'its renewal found the row without it'));
  }

  #stopBelieving(): void {
    const { clock, held: runs, logger } = this.#options;
    this.#hearAll();
    for (const held of runs.claims()) {
      // What has ended is for the settlement to give up.
      if (held.ended || !leaseIsOver(held, clock.now())) continue;
      const { id, type, claimToken } = held.job;
      if (held.run.stop(new ClaimLostError(id, 'it could not be renewed for a whole lease'))) {
        logger.warn(
          { id, type, claimToken, leaseMs: held.leaseMs },
          'lease not renewed in time, run stopped',
        );
      }
    }
  }

  /** After a handler has held up this thread, its timers come before what the other one has said meanwhile. */
  #hearAll(): void {
    const { port } = this.#renewal!;
    for (let next; (next = receiveMessageOnPort(port));) this.#hear(next.message as FromRenewer);
  }
}

function byClaim(held: readonly HeldRun[]): ClaimedIds[] {
  const groups = new Map<string, string[]>();
  for (const { job } of held) {
    const group = groups.get(job.claimToken);
    if (group) group.push(job.id);
    else groups.set(job.claimToken, [job.id]);
  }
  return [...groups].map(([claimToken, ids]) => ({ claimToken, ids: joinUuids(ids) }));
}
