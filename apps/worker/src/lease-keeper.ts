/**
 * Keeps the claims of this process: renews them in batches, hears of cancel requests and of claims that are gone, and
 * stops believing in a claim that could not be renewed for its whole lease.
 *
 * Why a lease of 30 s, renewed every third of it: one renewal may be lost and the next one late, and the claim still
 * stands; a dead worker's jobs start again within half a minute; and a thousand runs cost a few small statements a
 * minute, not a thousand. A type whose jobs must move on sooner sets a shorter `lease`, and pays with renewals.
 * Renewal goes on until the last run has settled, through the drain: a run that is being waited for is not lost.
 */
import { ClaimLostError, JobCancelledError, type Logger, type QueueClient } from '@fencepost/queue';
import { renewLeases, type Renewal } from '@fencepost/queue/protocol';
import { within, type Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { ReportFenced } from './fenced.ts';
import { leaseIsOver, stopRun, type HeldRun, type HeldRuns } from './held-runs.ts';

/** A quarter of the shortest lease there is. */
const TICK_MS = 250;
/** After a renewal that failed, or that met a locked row: at most this, and soon enough for the shortest lease. */
const RETRY_MS = 1_000;
/**
 * A statement without an answer for so long, or for a sixth of the shortest lease in it, is not waited for: the network
 * may have swallowed it, and half of the lease is left for the next one.
 */
const GIVE_UP_MS = 5_000;

/** A claim that is gone is not asked about again. */
const NEVER = Number.POSITIVE_INFINITY;

export interface LeaseKeeperOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly held: HeldRuns;
  readonly database: DatabaseWatch;
  readonly reportFenced: ReportFenced;
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #renewing = false;
  /** Every claim is to be asked about: also if a renewal is under way, which may have been answered before. */
  #soon = false;
  #stop = () => {};

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    const tick = () => {
      this.#stopBelieving();
      void this.#renewDue();
      this.#stop = this.#options.clock.after(TICK_MS, tick);
    };
    tick();
  }

  stop(): void {
    this.#stop();
  }

  /** Renews every claim: somebody asked for a cancellation, and a renewal brings it back. */
  renewSoon(): void {
    this.#soon = true;
    void this.#renewDue();
  }

  async #renewDue(): Promise<void> {
    const { clock } = this.#options;
    if (this.#renewing) return;
    const due = this.#due(clock.now());
    if (due.length === 0) return;
    this.#renewing = true;
    const patienceMs = Math.min(GIVE_UP_MS, ...due.map(({ leaseMs }) => leaseMs / 6));
    const answered = await within(clock, patienceMs, this.#renew(due));
    this.#renewing = false;
    if (this.#soon || !answered) void this.#renewDue();
  }

  #due(now: number): HeldRun[] {
    const claims = this.#options.held.claims().filter(({ renewAt }) => renewAt !== NEVER);
    if (this.#soon) {
      this.#soon = false;
      return claims.filter(({ ended }) => !ended);
    }
    if (!claims.some(({ renewAt }) => renewAt <= now)) return [];
    // With those that are due go those that soon will be, so that claims of different ages end up in one statement.
    return claims.filter(({ renewAt, leaseMs }) => renewAt - leaseMs / 6 <= now);
  }

  async #renew(due: readonly HeldRun[]): Promise<void> {
    const { client, clock, database } = this.#options;
    const askedAt = clock.now();
    for (const held of due) held.renewAt = askedAt + Math.min(RETRY_MS, held.leaseMs / 6);
    try {
      const leases = due.map(({ job: { id, claimToken }, leaseMs }) => ({ id, claimToken, leaseMs }));
      const renewals = await database.run('renew', () => renewLeases(client, leases));
      const byToken = new Map(renewals.map((renewal) => [renewal.claimToken, renewal]));
      for (const held of due) this.#heard(held, byToken.get(held.job.claimToken), askedAt);
    } catch {
      // Logged and counted by the watch; tried again soon.
    }
  }

  #heard(held: HeldRun, answer: Renewal | undefined, askedAt: number): void {
    if (answer === undefined) return;
    if (answer.renewal === 'lost') return this.#lost(held);
    // A locked row stands as well: the sweep passes it by.
    held.confirmedAt = Math.max(held.confirmedAt, askedAt);
    if (answer.renewal === 'renewed') held.renewAt = askedAt + held.leaseMs / 3;
    if (answer.cancelRequested) stopRun(held, new JobCancelledError(held.job.id));
  }

  #lost(held: HeldRun): void {
    held.renewAt = NEVER;
    // Its settlement, or the transaction of its `ctx.complete`, may be what took the claim off the row. Whether it was,
    // the settlement will tell; until then nothing is known that would be worth stopping it for.
    if (held.ended || held.run.completing()) {
      held.confirmedAt = NEVER;
      return;
    }
    const { job } = held;
    this.#options.reportFenced({ op: 'renew', job, lost: undefined });
    stopRun(held, new ClaimLostError(job.id, 'its renewal found the row without it'));
  }

  #stopBelieving(): void {
    const { clock, held: runs, logger } = this.#options;
    for (const held of runs.claims()) {
      // What has ended is for the settlement to give up.
      if (held.ended || !leaseIsOver(held, clock.now())) continue;
      const { id, type, claimToken } = held.job;
      if (stopRun(held, new ClaimLostError(id, 'it could not be renewed for a whole lease'))) {
        logger.warn(
          { id, type, claimToken, leaseMs: held.leaseMs },
          'lease not renewed in time, run stopped',
        );
      }
    }
  }
}
