/**
 * Renews the leases that it is told of, in batches, and tells what the database said. It has a thread of its own
 * (lease-thread.ts), so that a handler which computes without a pause keeps its claim, as long as its `timeout` lets it.
 *
 * Why a lease of 30 s, renewed every third of it: one renewal may be lost and the next one late, and the claim still
 * stands; a dead worker's jobs start again within half a minute; and a thousand runs cost a few small statements a
 * minute, not a thousand. A type whose jobs must move on sooner sets a shorter `lease`, and pays with renewals.
 */
import type { QueueClient } from '@fencepost/queue';
import { renewLeases, type Fence, type Lease } from '@fencepost/queue/protocol';
import { within, type Clock } from './clock.ts';
import { copyOf, splitUuids, type FromRenewer, type KeptLeases, type ToRenewer } from './lease-messages.ts';

/** A quarter of the shortest lease there is. */
const TICK_MS = 250;
/**
 * After a renewal that failed, or that met a locked row: at most this, and soon enough for the shortest lease; up to a
 * quarter less, so that the workers of a database that was away do not come back as one.
 */
const RETRY_MS = 1_000;
/**
 * A statement without an answer for so long, or for a sixth of the shortest lease in it, is not waited for: the network
 * may have swallowed it, and half of the lease is left for the next one.
 */
export const GIVE_UP_MS = 5_000;

interface KeptLease extends Lease {
  /** When the run's time is over. */
  readonly timeoutAt: number;
}

interface Kept {
  readonly lease: KeptLease;
  renewAt: number;
}

export interface LeaseRenewerOptions {
  readonly client: Pick<QueueClient, '$queryRaw'>;
  readonly clock: Clock;
  tell(message: FromRenewer): void;
  readonly random?: () => number;
}

export class LeaseRenewer {
  readonly #options: LeaseRenewerOptions;
  /** By claim and id, not by id alone: a job that was lost and claimed again may be held twice. */
  readonly #kept = new Map<string, Map<string, Kept>>();
  /** Told, and not looked into: most are gone by the time the keeper says what is still held. */
  #unread: KeptLeases[] = [];
  readonly #random: () => number;
  #heardAt: number;
  #renewing = false;
  /** Every claim is to be asked about: also if a renewal is under way, which may have been answered before. */
  #soon = false;
  #stop = () => {};

  constructor(options: LeaseRenewerOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#heardAt = options.clock.now();
  }

  start(): void {
    this.#options.tell({ say: 'ready' });
    const tick = () => {
      void this.#renewDue();
      this.#stop = this.#options.clock.after(TICK_MS, tick);
    };
    tick();
  }

  stop(): void {
    this.#stop();
  }

  hear(message: ToRenewer): void {
    this.#heardAt = this.#options.clock.now();
    switch (message.say) {
      case 'claimed':
        this.#unread.push(...message.leases);
        return;
      case 'held':
        return this.#keepOnly(
          new Map(message.claims.map(({ claimToken, ids }) => [claimToken, new Set(splitUuids(ids))])),
        );
      case 'renew now':
        this.#soon = true;
        void this.#renewDue();
    }
  }

  /** @param held ids by claim. */
  #keepOnly(held: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [claimToken, leases] of this.#kept) {
      const ids = held.get(claimToken);
      if (ids === undefined) this.#kept.delete(claimToken);
      else for (const id of leases.keys()) if (!ids.has(id)) leases.delete(id);
    }
    for (const leases of this.#unread.splice(0)) {
      const ids = held.get(leases.claimToken);
      if (ids) this.#read(leases, (id) => ids.has(id));
    }
  }

  /** Those of which a keeper that is blocked by a handler has said nothing more, but for their claim. */
  #readDue(now: number): void {
    const isDue = ({ claimAskedAt, leaseMs }: KeptLeases) =>
      this.#soon || firstRenewalAt(claimAskedAt, leaseMs) <= soonBy(now, leaseMs);
    const due = this.#unread.filter(isDue);
    if (due.length === 0) return;
    this.#unread = this.#unread.filter((leases) => !isDue(leases));
    for (const leases of due) this.#read(leases, () => true);
  }

  #read(
    { claimToken, ids, claimAskedAt, leaseMs, timeoutAt }: KeptLeases,
    isHeld: (id: string) => boolean,
  ): void {
    const kept = this.#kept.get(claimToken) ?? new Map<string, Kept>();
    this.#kept.set(claimToken, kept);
    for (const piece of splitUuids(ids)) {
      if (!isHeld(piece)) continue;
      const id = copyOf(piece);
      const lease = { id, claimToken, leaseMs, timeoutAt };
      kept.set(id, { lease, renewAt: firstRenewalAt(claimAskedAt, leaseMs) });
    }
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

  #due(now: number): KeptLease[] {
    this.#readDue(now);
    const kept = [...this.#kept.values()]
      .flatMap((leases) => [...leases.values()])
      .filter(({ lease }) => this.#mayRenew(lease, now));
    const dueBy = (latest: (leaseMs: number) => number) =>
      kept.filter(({ lease, renewAt }) => renewAt <= latest(lease.leaseMs));
    // With those that are due go those that soon will be, so that claims of different ages end up in one statement.
    const due = this.#soon
      ? kept
      : dueBy(() => now).length > 0
        ? dueBy((leaseMs) => soonBy(now, leaseMs))
        : [];
    this.#soon = false;
    return due.map(({ lease }) => lease);
  }

  /**
   * A run that is past its timeout has ended, and its claim is kept until that is written; but not by a main thread of
   * which nothing has been heard for a whole lease, because a handler blocks it: then the job is somebody else's.
   */
  #mayRenew({ timeoutAt, leaseMs }: KeptLease, now: number): boolean {
    return now < timeoutAt || now - this.#heardAt < leaseMs;
  }

  async #renew(due: readonly KeptLease[]): Promise<void> {
    const { client, clock, tell } = this.#options;
    const askedAt = clock.now();
    const shareOfWait = 0.75 + this.#random() / 4;
    this.#again(due, (leaseMs) => askedAt + shareOfWait * Math.min(RETRY_MS, leaseMs / 6));
    try {
      const renewals = await renewLeases(client, due);
      this.#again(
        renewals.filter(({ renewal }) => renewal === 'renewed'),
        (leaseMs) => askedAt + leaseMs / 3,
      );
      for (const { renewal, claimToken, id } of renewals) {
        if (renewal === 'lost') this.#kept.get(claimToken)?.delete(id);
      }
      tell({ say: 'renewed', askedAt, renewals });
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      tell({ say: 'failed', error: { message, code } });
    }
  }

  #again(claims: readonly Fence[], renewAt: (leaseMs: number) => number): void {
    for (const { claimToken, id } of claims) {
      const kept = this.#kept.get(claimToken)?.get(id);
      if (kept) kept.renewAt = renewAt(kept.lease.leaseMs);
    }
  }
}

function firstRenewalAt(claimAskedAt: number, leaseMs: number): number {
  return claimAskedAt + leaseMs / 3;
}

/** Whatever is due by then goes along with what is due now. */
function soonBy(now: number, leaseMs: number): number {
  return now + leaseMs / 6;
}
