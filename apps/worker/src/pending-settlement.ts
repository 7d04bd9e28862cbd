/** What a run came to, on its way to the database: as the queue settles it, and what the batcher knows of it. */
import type { SettledRun, Settlement } from '@fencepost/queue/protocol';
import type { HeldRun } from './held-runs.ts';

/** Getters, and no copy of the job's fields: thousands wait for their settlement at a time. */
export class PendingSettlement implements SettledRun {
  readonly held: HeldRun;
  readonly settlement: Settlement;
  /** When it ended, or when its row was last found locked, by the worker's clock. */
  since: number;
  /** It was sent, and whether it was written is not known. */
  sent = false;
  /** The database refused a statement that it was in, so that from then on it gets one of its own. */
  alone = false;

  constructor(held: HeldRun, settlement: Settlement, now: number) {
    this.held = held;
    this.settlement = settlement;
    this.since = now;
  }

  get id(): string {
    return this.held.job.id;
  }

  get claimToken(): string {
    return this.held.job.claimToken;
  }

  get claims(): number {
    return this.held.job.claims;
  }

  get completing(): boolean {
    // Only a completion that was sent may have completed the job: a retry that was, and that another run has followed,
    // is not to be taken for it where a completion leaves no row to tell.
    const mayHaveCompleted = this.sent && this.settlement.settle === 'complete';
    return mayHaveCompleted || this.held.run.completing();
  }
}
