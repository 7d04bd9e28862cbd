/**
 * How many jobs one claim, or one settlement, is for at most. Up to a thousand the cost a job still falls. A second
 * statement beside one under way is sent for a whole batch only, so that a worker which could never gather a thousand
 * has smaller ones.
 */
import { MAX_CLAIM } from '@fencepost/queue/protocol';

/** With 300 a drain does a tenth fewer jobs a second: docs/performance.md. */
const LEAST = 500;

export function wholeBatch(slots: number): number {
  return Math.min(MAX_CLAIM, Math.max(LEAST, slots));
}
