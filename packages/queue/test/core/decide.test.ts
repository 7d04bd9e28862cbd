import { describe, expect, test } from 'vitest';
import { decide, type FailureKind, type Outcome } from '../../src/core/decide.ts';

const thrown = { message: 'no luck', stack: 'Error: no luck\n    at handler' };
const someLeft = { attempts: 1, maxAttempts: 2 };
const noneLeft = { attempts: 2, maxAttempts: 2 };

describe('decide', () => {
  test.each<FailureKind>(['failed', 'timeout', 'invalid_payload', 'claim_lost'])(
    '%s: again while attempts are left, then dead',
    (kind) => {
      const outcome: Outcome = { outcome: 'failed', kind, thrown };
      const error = { ...thrown, kind };
      expect(decide(outcome, someLeft)).toEqual({ settle: 'retry', error });
      expect(decide(outcome, noneLeft)).toEqual({ settle: 'bury', error });
      expect(decide(outcome, { attempts: 3, maxAttempts: 2 })).toEqual({ settle: 'bury', error });
    },
  );

  test.each([
    [
      { outcome: 'completed', result: '{"a":1}' },
      { settle: 'complete', result: '{"a":1}' },
    ],
    [
      { outcome: 'completed', result: null },
      { settle: 'complete', result: null },
    ],
    [
      { outcome: 'discarded', thrown },
      { settle: 'bury', error: { ...thrown, kind: 'discarded' } },
    ],
    [
      { outcome: 'snoozed', delayMs: 5 },
      { settle: 'snooze', delayMs: 5 },
    ],
    [
      { outcome: 'cancelled', thrown },
      { settle: 'cancel', error: { ...thrown, kind: 'cancelled' } },
    ],
    [{ outcome: 'released' }, { settle: 'release' }],
  ] as const)('%j, whatever attempts are left', (outcome, settlement) => {
    expect(decide(outcome, someLeft)).toEqual(settlement);
    expect(decide(outcome, noneLeft)).toEqual(settlement);
  });
});
