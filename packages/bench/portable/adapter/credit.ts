/**
 * What is owed at a rate, by the time that has really passed: a loop that comes round late offers more, so that the rate
 * is kept however long an enqueue takes. The contract calls this rule normative.
 */
export class Credit {
  #owed = 0;
  #at: number;

  /** @param now monotonic milliseconds. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Takes up to `most` of what is owed. A rate of 0 forgives the rest, so that no burst follows when it rises again. */
  take(rate: number, now: number, most: number): number {
    this.#owed = rate > 0 ? this.#owed + (rate * (now - this.#at)) / 1_000 : 0;
    this.#at = now;
    const whole = Math.min(most, Math.floor(this.#owed));
    this.#owed -= whole;
    return whole;
  }
}
