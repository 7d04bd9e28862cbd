/** From what a handler threw to how its run ended. Pure; the errors are told apart by their codes. */
import type { Outcome } from './decide.ts';
import { describeThrown } from './thrown.ts';
import { parseDuration } from './durations.ts';
import { MAX_DELAY_MS } from './limits.ts';

/**
 * @param thrown what the handler threw.
 * @param reason the reason of the run's signal if it was aborted by then: a handler that stops as it was told may throw
 *   whatever its libraries make of an abort.
 */
export function classifyThrown(thrown: unknown, reason: unknown): Outcome {
  const code = codeOf(thrown);
  if (code === 'DISCARD') return { outcome: 'discarded', thrown: describeThrown(thrown) };
  if (code === 'SNOOZE') return snoozed(thrown);
  switch (codeOf(reason)) {
    case 'DRAIN_DEADLINE':
      return { outcome: 'released' };
    case 'JOB_CANCELLED':
      return { outcome: 'cancelled', thrown: describeThrown(reason) };
    case 'JOB_TIMEOUT':
      return { outcome: 'failed', kind: 'timeout', thrown: describeThrown(reason) };
    case 'CLAIM_LOST':
      return { outcome: 'failed', kind: 'claim_lost', thrown: describeThrown(thrown) };
    default:
      return {
        outcome: 'failed',
        kind: code === 'INVALID_PAYLOAD' ? 'invalid_payload' : 'failed',
        thrown: describeThrown(thrown),
      };
  }
}

/** A delay that is none is the handler's failure, to be seen on the row. */
function snoozed(thrown: unknown): Outcome {
  const delayMs = parseDuration(read(thrown, 'delay'));
  if (delayMs !== undefined && delayMs <= MAX_DELAY_MS) return { outcome: 'snoozed', delayMs };
  const { message, stack } = describeThrown(thrown);
  const problem = `a delay that is no duration up to ${MAX_DELAY_MS} ms: ${message}`;
  return { outcome: 'failed', kind: 'failed', thrown: { message: problem, stack } };
}

function codeOf(value: unknown): unknown {
  return read(value, 'code');
}

/** Getters throw too. */
function read(value: unknown, property: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, property);
  } catch {
    return undefined;
  }
}
