/**
 * How many jobs to claim beyond the slots that are free: twice as many as the slots get through while a claim is under
 * way, so that none stands empty from one claim to the next, or as many as they get through in a short while, so that
 * there are few claims. Of jobs that take longer than that for each slot it is none, and the claim is then for the free
 * slots alone: a job that waits here is one that another worker cannot have.
 */

/** With less, 50 slots of 5 ms each send five hundred claims a second: docs/decisions/0004. */
const SHORT_WHILE_MS = 25;
/** No more than this, or than there are slots if those are more: what waits in a worker that is killed waits for its lease to end. */
const MOST_AHEAD = 250;
/** A claim that took longer says that something held it up, this process perhaps, and not how long the next will take. */
const LONGEST_CLAIM_MS = 250;
/** The mean of about so many runs, or claims: the next long one among short ones counts at once. */
const REMEMBERED = 50;
/** Nothing that is worth a transaction is over sooner. */
const SHORTEST_RUN_MS = 0.1;

export class ClaimAhead {
  readonly #slots: number;
  readonly #runMs = new RecentMean();
  readonly #claimMs = new RecentMean();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Jobs that will find a slot within a moment; none before a run and a claim have ended. */
  get jobs(): number {
    const waitMs = Math.max(SHORT_WHILE_MS, 2 * this.#claimMs.value);
    const runs = waitMs / Math.max(SHORTEST_RUN_MS, this.#runMs.value);
    return Number.isNaN(runs)
      ? 0
      : Math.min(Math.max(MOST_AHEAD, this.#slots), Math.floor(this.#slots * runs));
  }

  /** A run took so long. */
  ran(ms: number): void {
    this.#runMs.add(ms);
  }

  /** A claim took so long. */
  claimed(ms: number): void {
    this.#claimMs.add(Math.min(ms, LONGEST_CLAIM_MS));
  }

  /** Jobs that were claimed ahead found no slot: what runs takes longer than what ran. */
  waitedInVain(): void {
    this.#runMs.forget();
  }
}

class RecentMean {
  value = Number.NaN;
  #count = 0;

  add(sample: number): void {
    this.#count = Math.min(REMEMBERED, this.#count + 1);
    this.value = this.#count === 1 ? sample : this.value + (sample - this.value) / this.#count;
  }

  forget(): void {
    this.#count = 0;
    this.value = Number.NaN;
  }
}
