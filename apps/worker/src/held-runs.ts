/**
 * The runs of this process: which claims it holds, and which of its slots are taken. A claim is held until its run is
 * settled; a slot is taken until its handler has really returned. Either may outlast the other.
 */
import type { ClaimedJob, Run, StopReason } from '@fencepost/queue/protocol';

export interface HeldRun {
  readonly job: ClaimedJob;
  readonly run: Run;
  readonly leaseMs: number;
  /**
   * When the database last said that the claim stands, by the worker's clock: the time at which it was asked, so that
   * the lease here never ends later than there.
   */
  confirmedAt: number;
  /** When the run's signal was aborted, for whatever reason, by the worker's clock. */
  stoppedAt: number | undefined;
  /** Its outcome is known, and on its way to the database. */
  ended: boolean;
}

/** The lease as far as this process can know: the database may have given it a little longer, never less. */
export function leaseIsOver(held: HeldRun, now: number): boolean {
  return now - held.confirmedAt > held.leaseMs;
}

/** Aborts the run's signal. False if it was aborted before: the first reason stands. */
export function stopRun({ run }: HeldRun, reason: StopReason): boolean {
  if (run.signal.aborted) return false;
  run.stop(reason);
  return true;
}

export class HeldRuns {
  readonly #capacity: number;
  readonly #freed: () => void;
  /** By token, not by id: a job that was lost and claimed again may be held twice. */
  readonly #claims = new Map<string, HeldRun>();
  readonly #slots = new Set<HeldRun>();
  #changed: (() => void)[] = [];

  /** @param freed called whenever a slot may have become free. */
  constructor(capacity: number, freed: () => void) {
    this.#capacity = capacity;
    this.#freed = freed;
  }

  get capacity(): number {
    return this.#capacity;
  }

  add(held: HeldRun): void {
    this.#claims.set(held.job.claimToken, held);
    this.#slots.add(held);
  }

  settled(held: HeldRun): void {
    this.#claims.delete(held.job.claimToken);
    this.#change();
  }

  returned(held: HeldRun): void {
    this.#slots.delete(held);
    this.#change();
  }

  claim(claimToken: string): HeldRun | undefined {
    return this.#claims.get(claimToken);
  }

  /** Claims whose outcome has not been written. */
  claims(): HeldRun[] {
    return [...this.#claims.values()];
  }

  /** Runs whose handler has not returned. */
  running(): HeldRun[] {
    return [...this.#slots];
  }

  /**
   * How many jobs may be claimed: a free slot each, and never so many that more settlements wait for the database than
   * there are slots. A database that takes no settlements gets no further claims.
   */
  free(): number {
    return Math.max(0, Math.min(this.#capacity - this.#slots.size, 2 * this.#capacity - this.#claims.size));
  }

  /** Runs whose signal was aborted so long ago, and whose handler goes on regardless. */
  ignoringAbort(now: number, ms: number): number {
    let count = 0;
    for (const held of this.#slots) if (held.stoppedAt !== undefined && now - held.stoppedAt > ms) count++;
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
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
    this.#freed();
  }
}
