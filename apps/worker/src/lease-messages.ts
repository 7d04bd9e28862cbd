/**
 * What the keeper of the leases, who knows the runs, and their renewer, who has a thread of its own, tell each other.
 * Times are of the monotonic clock that the threads of a process share, in milliseconds.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Renewal } from '@fencepost/queue/protocol';

/**
 * UUIDs one after the other. A list of them is copied text by text on either side; this is one piece of memory, which
 * most of the time nobody has to look into: most claims are settled before they need a renewal.
 */
export type Uuids = string & { readonly uuids: true };

const UUID_LENGTH = 36;

export function joinUuids(uuids: readonly string[]): Uuids {
  return uuids.join('') as Uuids;
}

/** On its own: a piece of a text keeps all of it in memory. */
export function copyOf(uuid: string): string {
  return Buffer.from(uuid, 'latin1').toString('latin1');
}

export function splitUuids(uuids: Uuids): string[] {
  return Array.from({ length: uuids.length / UUID_LENGTH }, (_, n) =>
    uuids.slice(n * UUID_LENGTH, (n + 1) * UUID_LENGTH),
  );
}

/** Jobs of one claim. */
export interface ClaimedIds {
  readonly claimToken: string;
  readonly ids: Uuids;
}

/** Jobs of one claim and type, as the renewer has to know them. */
export interface KeptLeases extends ClaimedIds {
  readonly leaseMs: number;
  /** When the claims were asked for: the leases run from then, or from a moment later. */
  readonly claimAskedAt: number;
  /** When the time of their runs is over, were they started at once; those that wait are, within a moment. */
  readonly timeoutAt: number;
}

export type ToRenewer =
  /** Before any of their runs starts. */
  | { readonly say: 'claimed'; readonly leases: readonly KeptLeases[] }
  /** Every claim that is still held, so that the others are forgotten; and that the main thread is alive. */
  | { readonly say: 'held'; readonly claims: readonly ClaimedIds[] }
  /** Somebody asked for a cancellation, and a renewal brings it back. */
  | { readonly say: 'renew now' };

export type FromRenewer =
  /** First of all. */
  | { readonly say: 'ready' }
  | { readonly say: 'renewed'; readonly askedAt: number; readonly renewals: readonly Renewal[] }
  | { readonly say: 'failed'; readonly error: RenewalError };

/** What of an error can go from thread to thread. */
export interface RenewalError {
  readonly message: string;
  readonly code: string | undefined;
}

/** A renewer at work, as the keeper sees it. */
export interface LeaseRenewal {
  readonly port: MessagePort;
  close(): Promise<void>;
}
