/**
 * The runs of this process: which claims it holds, and which of its slots are taken. A claim is held from before its run
 * starts until it is settled; a slot is taken until its handler has really returned. Either may outlast the other.
 */
import type { ClaimedJob, PreparedRun } from '@fencepost/queue/protocol';
import { ClaimAhead } from './claim-ahead.ts';

export interface HeldRun {
  readonly job: ClaimedJob;
  readonly run: PreparedRun;
  readonly leaseMs: number;
  /** When the claim was answered, by the worker's clock. */
  readonly heldAt: number;
  /**
   * When the database last said that the claim stands, by the worker's clock: the time at which it was asked, so that
   * the lease here never ends later than there.
   */
  confirmedAt: number;
  /** When its handler was called, by the worker's clock. */
  startedAt: number | undefined;
  /** Its outcome is known, and on its way to the database. */
  ended: boolean;
}

/** The lease as far as this process can know: the database may have given it a little longer, never less. */
export function leaseIsOver(held: HeldRun, now: number): boolean {
  return now - held.confirmedAt > held.leaseMs;
}

export class HeldRuns {
  /** How many more than the free slots are worth claiming. */
  readonly ahead: ClaimAhead;
  readonly #capacity: number;
  readonly #freed: () => void;
  /** By claim, not by job: one that was lost and claimed again may be held twice. */
  readonly #claims = new Set<HeldRun>();
  /** Claimed, and not started yet, in the order in which they are to be. */
  readonly #waiting = new Set<HeldRun>();
  readonly #slots = new Set<HeldRun>();
  #changed: (() => void)[] = [];

  /** @param freed called whenever a slot may have become free, or a claim was settled. */
  constructor(capacity: number, freed: () => void) {
    this.#capacity = capacity;
    this.ahead = new ClaimAhead(capacity);
    this.#freed = freed;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Slots whose handler has not returned. */
  get taken(): number {
    return this.#slots.size;
  }

  add(held: HeldRun): void {
    this.#claims.add(held);
    this.#waiting.add(held);
  }

  /** The first of those that wait; undefined where none does or no slot is free. */
  nextForSlot(): HeldRun | undefined {
    if (this.#slots.size >= this.#capacity) return undefined;
    const [next] = this.#waiting;
    return next;
  }

  takeSlot(held: HeldRun): void {
    this.#waiting.delete(held);
    this.#slots.add(held);
  }

  /** It will not be started. */
  withdraw(held: HeldRun): void {
    this.#waiting.delete(held);
  }

  settled(held: HeldRun): void {
    this.#claims.delete(held);
    this.#change();
  }

  returned(held: HeldRun): void {
    this.#slots.delete(held);
    this.#change();
  }

  /** Claims whose outcome has not been written. */
  claims(): HeldRun[] {
    return [...this.#claims];
  }

  /** Claimed, and without a slot. */
  waiting(): HeldRun[] {
    return [...this.#waiting];
  }

  /** Runs whose handler has not returned. */
  running(): HeldRun[] {
    return [...this.#slots];
  }

  /** Whether a slot stands empty and nothing waits to take it. */
  isIdle(): boolean {
    return this.#waiting.size === 0 && this.#slots.size < this.#capacity;
  }

  /**
   * How many jobs may be claimed: a slot each that is free or will be in a moment, and never so many that more settlements
   * wait for the database than that. A database that takes no settlements gets no further claims.
   */
  room(): number {
    const ahead = this.ahead.jobs;
    const slots = this.#capacity + ahead - this.#slots.size - this.#waiting.size;
    return Math.max(0, Math.min(slots, 2 * (this.#capacity + ahead) - this.#claims.size));
  }

  /** Runs whose signal was aborted so long ago, and whose handler goes on regardless. */
  ignoringAbort(now: number, ms: number): number {
    let count = 0;
    for (const { run } of this.#slots) if (run.stoppedAt !== undefined && now - run.stoppedAt > ms) count++;
    return count;
  }

  /** Resolves when every outcome is written, or given up. */
  async allSettled(): Promise<void> {
    while (this.#claims.size > 0) await this.#nextChange();
  }

  /** Resolves when no claim is held and no slot is taken. */
  async empty(): Promise<void> {
    while (this.#claims.size > 0 || this.#slots.size > 0) await this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #change(): void {
    if (this.#changed.length > 0) for (const resolve of this.#changed.splice(0)) resolve();
    this.#freed();
  }
}
