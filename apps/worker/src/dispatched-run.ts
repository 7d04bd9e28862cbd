/**
 * A claimed job with its run, from the claim to the settlement. The run tells this object what becomes of it, and this
 * one tells the dispatcher of which job that is: no closure for a job.
 */
import type { JobHandler } from '@fencepost/queue';
import {
  prepareRun,
  type ClaimedJob,
  type Outcome,
  type PreparedRun,
  type RunEnvironment,
  type RunListener,
} from '@fencepost/queue/protocol';
import type { HeldRun } from './held-runs.ts';

/** Who has started the run, and gets what comes of it. */
export interface RunOwner {
  ended(entry: HeldRun, outcome: Outcome): void;
  returned(entry: HeldRun): void;
}

/** When the job's claim was asked for and answered, by the worker's clock. */
export interface ClaimTimes {
  readonly claimAskedAt: number;
  readonly answeredAt: number;
}

export class DispatchedRun implements HeldRun, RunListener {
  readonly job: ClaimedJob;
  readonly run: PreparedRun;
  readonly leaseMs: number;
  readonly heldAt: number;
  confirmedAt: number;
  startedAt: number | undefined = undefined;
  ended = false;
  readonly #owner: RunOwner;

  constructor(
    job: ClaimedJob,
    handler: JobHandler,
    environment: RunEnvironment,
    owner: RunOwner,
    { claimAskedAt, answeredAt }: ClaimTimes,
  ) {
    this.job = job;
    this.leaseMs = handler.contract.leaseMs;
    this.heldAt = answeredAt;
    this.confirmedAt = claimAskedAt;
    this.#owner = owner;
    this.run = prepareRun(job, handler, environment, this);
  }

  onOutcome(outcome: Outcome): void {
    this.#owner.ended(this, outcome);
  }

  onReturn(): void {
    this.#owner.returned(this);
  }
}
