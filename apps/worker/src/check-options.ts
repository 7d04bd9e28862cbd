/**
 * Settings that would make a worker spin, stand still, or delete what it should keep. `readWorkerConfig` never makes
 * such; a worker that an app puts together by itself may be given them.
 */
import { InvalidOptionError, type QueueClient } from '@fencepost/queue';
import { checkClient } from '@fencepost/queue/protocol';

interface CheckedOptions extends Readonly<Record<Numbers, number>> {
  readonly prisma: QueueClient;
  readonly workerId: string;
  readonly keepCompleted?: boolean;
}

const DAY_MS = 86_400_000;

/** @throws InvalidOptionError naming the option. */
export function checkOptions(options: CheckedOptions): void {
  checkClient('prisma', options.prisma);
  checkRange(options, 'concurrency', 1, 1_000);
  // As long as the trigger relies on workers to look by themselves: see config.ts.
  checkRange(options, 'pollIntervalMs', 1, 60_000);
  checkRange(options, 'sweepIntervalMs', 1, 600_000);
  checkRange(options, 'retentionMs', 0, 3_650 * DAY_MS);
  const { workerId, keepCompleted } = options;
  if (typeof workerId !== 'string' || workerId === '' || workerId.includes('\0'))
    throw new InvalidOptionError('workerId', workerId, 'text without NUL');
  // Text that says false would keep, and what only looks like false would delete.
  if (keepCompleted !== undefined && typeof keepCompleted !== 'boolean')
    throw new InvalidOptionError('keepCompleted', keepCompleted, 'true or false');
}

type Numbers = 'concurrency' | 'pollIntervalMs' | 'sweepIntervalMs' | 'retentionMs';

function checkRange(options: CheckedOptions, field: Numbers, min: number, max: number): void {
  const value = options[field];
  // NaN, and text that looks like a number, are no integers.
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new InvalidOptionError(field, value, `a whole number from ${min} to ${max}`);
}
