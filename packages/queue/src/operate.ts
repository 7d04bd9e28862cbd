/** What an operator, or any replica of the web app, does to a job: cancel it or give it another life. */
import { checkClient } from './check-arguments.ts';
import type { QueueClient } from './client.ts';
import { isFinal, type FinalState } from './core/states.ts';
import { checkedId } from './ids.ts';
import { cancelRow } from './store/cancel.ts';
import { retryRow } from './store/retry.ts';
import { isUniqueViolation } from './store/sql-state.ts';

export type CancelOutcome =
  | { readonly outcome: 'cancelled' }
  /** It runs: its worker was asked to stop, and the job is cancelled unless it completes first. */
  | { readonly outcome: 'requested' }
  | { readonly outcome: 'already_finished'; readonly state: FinalState }
  /** Somebody else holds the row right now (a claim for a moment, or a handler's transaction). Ask again. */
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'not_found' };

/** @throws InvalidOptionError if `id` is no UUID. */
export async function cancel(client: QueueClient, id: string): Promise<CancelOutcome> {
  checkClient('client', client);
  const row = await cancelRow(client, checkedId('id', id));
  if (!row) return { outcome: 'not_found' };
  if (isFinal(row.before)) return { outcome: 'already_finished', state: row.before };
  if (row.after === null) return { outcome: 'busy' };
  return { outcome: row.after === 'cancelled' ? 'cancelled' : 'requested' };
}

export type RetryOutcome =
  | { readonly outcome: 'retried' }
  | { readonly outcome: 'not_finished'; readonly state: 'pending' | 'running' }
  /** Another unfinished job has this one's dedupe key. */
  | { readonly outcome: 'duplicate'; readonly id: string | null }
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'not_found' };

/**
 * Another life for a finished job: pending and due at once, attempts and crashes from zero, errors kept.
 * @throws InvalidOptionError if `id` is no UUID.
 */
export async function retry(client: QueueClient, id: string): Promise<RetryOutcome> {
  checkClient('client', client);
  try {
    const row = await retryRow(client, checkedId('id', id));
    if (!row) return { outcome: 'not_found' };
    if (row.retried) return { outcome: 'retried' };
    if (!isFinal(row.before)) return { outcome: 'not_finished', state: row.before };
    return row.duplicateId === null ? { outcome: 'busy' } : { outcome: 'duplicate', id: row.duplicateId };
  } catch (error) {
    // Enqueued with the same key between the look and the write.
    if (isUniqueViolation(error)) return { outcome: 'duplicate', id: null };
    throw error;
  }
}
