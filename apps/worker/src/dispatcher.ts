/**
 * Gives each claimed job its run, and each run's outcome to the batcher. Nothing here waits for a job.
 *
 * A job that was claimed ahead of a free slot waits for one, for a moment: what has not started by then is handed back,
 * since another worker may have a slot for it.
 *
 * This is passed through some ten thousand times a second: what is the same for all jobs of a claim is done once, and
 * nothing is made for a job that it may not need.
 */
import type { JobHandler, Logger } from '@fencepost/queue';
import { decide, type ClaimedJob, type Outcome, type RunEnvironment } from '@fencepost/queue/protocol';
import type { Clock } from './clock.ts';
import { DispatchedRun, type RunOwner } from './dispatched-run.ts';
import type { HeldRun, HeldRuns } from './held-runs.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { joinUuids, type KeptLeases } from './lease-messages.ts';
import type { Metrics } from './metrics.ts';
import type { SettleBatcher } from './settle-batcher.ts';

/** Many times what a job that was claimed ahead waits for its slot, where jobs go on to take as long as they did. */
const WAITS_MS = 1_000;

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly held: HeldRuns;
  readonly keeper: LeaseKeeper;
  readonly batcher: SettleBatcher;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly environment: RunEnvironment;
}

export class Dispatcher implements RunOwner {
  readonly #options: DispatcherOptions;
  #watching = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Starts the jobs of one claim, in their order, as far as there are slots. */
  dispatch(jobs: readonly ClaimedJob[], claimAskedAt: number): void {
    const { clock, logger, metrics, keeper } = this.#options;
    const answeredAt = clock.now();
    const byType = groupByType(jobs);
    keeper.claimed([...byType].map(([type, claimed]) => this.#leasesOf(type, claimed, claimAskedAt)));
    for (const [type, claimed] of byType) metrics.claimed.inc({ type }, claimed.length);
    const isDebug = logger.isLevelEnabled?.('debug') ?? true;
    for (const job of jobs) {
      const { type, id, attempts, waitedMs } = job;
      metrics.waited.observe({ type }, waitedMs / 1_000);
      if (isDebug) logger.debug({ id, type, attempts, waitedMs }, 'job claimed');
      const entry = this.#hold(job, claimAskedAt, answeredAt);
      // Something held up this thread while the claim was under way: the job may be somebody else's by now.
      if (answeredAt - claimAskedAt > entry.leaseMs) this.#release(entry);
    }
    this.#startWaiting();
    this.#watchWaiting();
  }

  /** Takes jobs that are not to be started: they are held until they are handed back. */
  handBack(jobs: readonly ClaimedJob[], claimAskedAt: number): void {
    const answeredAt = this.#options.clock.now();
    for (const job of jobs) this.#release(this.#hold(job, claimAskedAt, answeredAt));
  }

  /** Hands back what waits for a slot. */
  handBackWaiting(): void {
    for (const entry of this.#options.held.waiting()) this.#release(entry);
  }

  #leasesOf(type: string, jobs: readonly ClaimedJob[], claimAskedAt: number): KeptLeases {
    const { leaseMs, timeoutMs } = this.#options.handlers.get(type)!.contract;
    return {
      leaseMs,
      claimAskedAt,
      timeoutAt: this.#options.clock.now() + timeoutMs,
      claimToken: jobs[0]!.claimToken,
      ids: joinUuids(jobs.map(({ id }) => id)),
    };
  }

  #hold(job: ClaimedJob, claimAskedAt: number, answeredAt: number): HeldRun {
    const { held, handlers, environment } = this.#options;
    const entry = new DispatchedRun(job, handlers.get(job.type)!, environment, this, {
      claimAskedAt,
      answeredAt,
    });
    held.add(entry);
    return entry;
  }

  ended(entry: HeldRun, outcome: Outcome): void {
    const { clock, metrics, batcher } = this.#options;
    const { job, startedAt } = entry;
    const now = clock.now();
    if (startedAt !== undefined) metrics.ran.observe({ type: job.type }, (now - startedAt) / 1_000);
    batcher.add(entry, decide(outcome, job));
  }

  returned(entry: HeldRun): void {
    const { clock, held } = this.#options;
    held.ahead.ran(clock.now() - entry.startedAt!);
    held.returned(entry);
    this.#startWaiting();
  }

  #release(entry: HeldRun): void {
    this.#options.held.withdraw(entry);
    entry.run.release();
  }

  #startWaiting(): void {
    const { clock, held } = this.#options;
    for (let next; (next = held.nextForSlot());) {
      const now = clock.now();
      if (this.#hasWaitedInVain(next, now)) this.#release(next);
      // Its claim is gone, or its cancellation was asked for.
      else if (next.run.stoppedAt !== undefined) this.#release(next);
      else this.#start(next, now);
    }
  }

  /**
   * Asked before each start, and not only by the timer: behind handlers that compute, or after the process stood still,
   * no timer has come yet, and by then the job may be somebody else's.
   */
  #hasWaitedInVain({ heldAt }: HeldRun, now: number): boolean {
    if (now - heldAt <= WAITS_MS) return false;
    this.#options.held.ahead.waitedInVain();
    return true;
  }

  #start(entry: HeldRun, now: number): void {
    this.#options.held.takeSlot(entry);
    entry.startedAt = now;
    entry.run.start();
  }

  /** What has waited for so long is handed back, and less is claimed ahead. */
  #watchWaiting(): void {
    const { clock, held } = this.#options;
    if (this.#watching || held.waiting().length === 0) return;
    this.#watching = true;
    clock.after(WAITS_MS / 2, () => {
      this.#watching = false;
      const now = clock.now();
      for (const entry of held.waiting()) if (this.#hasWaitedInVain(entry, now)) this.#release(entry);
      this.#watchWaiting();
    });
  }
}

function groupByType(jobs: readonly ClaimedJob[]): Map<string, ClaimedJob[]> {
  const byType = new Map<string, ClaimedJob[]>();
  for (const job of jobs) {
    const group = byType.get(job.type);
    if (group) group.push(job);
    else byType.set(job.type, [job]);
  }
  return byType;
}
