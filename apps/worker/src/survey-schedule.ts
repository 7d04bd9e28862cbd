/**
 * When to look for the heads of the queue anew, and whether claims are to start from them: decided by what the looks and
 * the claims have cost. Times are the worker's own, for durations within this process.
 *
 * While a snapshot holds back vacuum, a claim passes the entry of every job that has passed since, twice: to see what is
 * due and to lock it. A survey passes them once. From the heads that a survey has found, a claim passes none of them; but
 * it does not see a job before the heads, until the next survey.
 */

/** A held snapshot is found out within this; and nobody notices a survey a second. */
const LOOK_OUT_MS = 1_000;

/**
 * A survey for every eight times its cost in claims. Where each finds a job before the heads, which takes one or two
 * claims that pass everything, all of it together still costs less than three times what the claims would.
 */
const CLAIM_SHARE = 8;
/** And, for a worker that seldom claims, one in this share of the time, or a job before the heads might wait for hours. */
const TIME_SHARE = 20;
/** However long a survey takes: no job before the heads waits longer than this for the next one. */
const LONGEST_WAIT_MS = 30_000;
/** Before the first claim nothing is known of its cost; what a survey passes in so long makes any claim dear. */
const DEAR_MS = 100;
/** Surveys in a row that were ended by a job before the heads, after which one claim has to tell what there is to pass. */
const BLIND_SURVEYS = 3;

export class SurveySchedule {
  #fromHeads = false;
  #isProbe = false;
  #blindSurveys = 0;
  /** The cheapest since the last survey: the others were held up, or had more to write. */
  #claimMs = Infinity;
  /** The same since claims start at the heads. */
  #cheapestMs = Infinity;
  #claimsMs = 0;
  #surveyMs = 0;
  #surveyedAt: number;

  constructor(now: number) {
    this.#surveyedAt = now;
  }

  /** Whether claims start at the heads, because from the beginning they would cost too much. */
  get fromHeads(): boolean {
    return this.#fromHeads && !this.#isProbe;
  }

  /** The next claim has to start at the beginning, and to tell whether that is still dear. */
  get isProbe(): boolean {
    return this.#isProbe;
  }

  /** @param looksBack whether it started at the beginning. */
  claimed(tookMs: number, looksBack: boolean): void {
    if (this.#isProbe && looksBack) {
      this.#isProbe = false;
      this.#fromHeads = tookMs > 3 * this.#cheapestMs;
    }
    this.#cheapestMs = this.#fromHeads ? Math.min(this.#cheapestMs, tookMs) : Infinity;
    // One that goes on where the last one ended tells nothing of what others cost.
    if (looksBack || this.#fromHeads) this.#claimMs = Math.min(this.#claimMs, tookMs);
    this.#claimsMs += tookMs;
  }

  /** A claim from the beginning did not come through: the next survey has to tell what there is to pass. */
  gaveUp(): void {
    this.#isProbe = false;
  }

  /** @param deadMs how much of it was for the entries of jobs that have passed. */
  surveyed(now: number, tookMs: number, deadMs: number): void {
    // From the beginning, a claim passes them twice: at a third of it, it costs three times what it has to. At a quarter
    // of a claim from the heads, or of one that passed them all the same, it costs no more than twice that.
    if (this.#claimMs < Infinity) this.#fromHeads = deadMs > this.#claimMs / (this.#fromHeads ? 4 : 3);
    else if (deadMs > DEAR_MS) this.#fromHeads = true;
    this.#blindSurveys = 0;
    this.#waitAnew(now, tookMs);
  }

  /**
   * A job before the heads ended the survey before it had passed what dead entries there are. As many as before, it seems;
   * but where each survey ends so, they may be long gone.
   */
  foundStraggler(now: number): void {
    this.#blindSurveys++;
    if (this.#blindSurveys === BLIND_SURVEYS) {
      this.#blindSurveys = 0;
      this.#isProbe = this.#fromHeads;
    }
    this.#waitAnew(now, this.#surveyMs);
  }

  /** A survey that found nothing out is not made again at once either. */
  failed(now: number, tookMs: number): void {
    this.#waitAnew(now, tookMs);
  }

  /** Whether a survey is worth its cost. */
  isDue(now: number): boolean {
    const paidFor = this.#claimsMs >= CLAIM_SHARE * this.#surveyMs;
    return this.#fromHeads
      ? paidFor || this.dueInMs(now) <= 0
      : paidFor && now - this.#surveyedAt >= LOOK_OUT_MS;
  }

  /** While claims start at the heads: how long until it is, if there is no claim until then. */
  dueInMs(now: number): number {
    return this.#surveyedAt + Math.min(TIME_SHARE * this.#surveyMs, LONGEST_WAIT_MS) - now;
  }

  #waitAnew(now: number, surveyMs: number): void {
    this.#surveyMs = surveyMs;
    this.#surveyedAt = now;
    this.#claimMs = Infinity;
    this.#claimsMs = 0;
  }
}
