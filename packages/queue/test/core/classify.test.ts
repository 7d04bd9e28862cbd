import { describe, expect, test } from 'vitest';
import { classifyThrown } from '../../src/core/classify.ts';
import {
  ClaimLostError,
  DiscardError,
  DrainDeadlineError,
  InvalidPayloadError,
  JobCancelledError,
  JobTimeoutError,
  SnoozeError,
} from '../../src/errors.ts';

const id = '01a22acf-4ea4-7151-bc43-831552cb7b85';
const abort = new DOMException('This operation was aborted', 'AbortError');

describe('what a handler threw', () => {
  test('an error is a failure', () => {
    expect(classifyThrown(new Error('no luck'), undefined)).toMatchObject({
      outcome: 'failed',
      kind: 'failed',
      thrown: { message: 'no luck' },
    });
  });

  test.each([null, undefined, 'text', 0, Symbol('s')])('%s is a failure', (thrown) => {
    expect(classifyThrown(thrown, undefined)).toMatchObject({ outcome: 'failed', kind: 'failed' });
  });

  test('a payload that does not fit is a failure of its own kind', () => {
    expect(classifyThrown(new InvalidPayloadError('t', []), undefined)).toMatchObject({
      kind: 'invalid_payload',
    });
  });

  test('DiscardError, whatever the signal says', () => {
    for (const reason of [undefined, new DrainDeadlineError(), new JobCancelledError(id)]) {
      expect(classifyThrown(new DiscardError('never'), reason)).toMatchObject({
        outcome: 'discarded',
        thrown: { message: 'DiscardError: never' },
      });
    }
  });

  test.each([
    [0, 0],
    ['5m', 300_000],
  ])('SnoozeError(%j)', (delay, delayMs) => {
    expect(classifyThrown(new SnoozeError(delay), new DrainDeadlineError())).toEqual({
      outcome: 'snoozed',
      delayMs,
    });
  });

  test.each([-1, '5 minutes', '36500d', 'a\0b\ud83d'])(
    'SnoozeError(%j) is a failure that can be stored',
    (delay) => {
      const outcome = classifyThrown(new SnoozeError(delay), undefined);
      expect(outcome).toMatchObject({ outcome: 'failed', kind: 'failed' });
      const { thrown } = outcome as { thrown: { message: string } };
      expect(thrown.message).toMatch(/^a delay that is no duration up to \d+ ms: SnoozeError: snoozed for /);
      expect(thrown.message).not.toMatch(/[\0\ud800-\udfff]/);
    },
  );

  test.each<[string, unknown]>([
    ['a delay that cannot be spelled', { code: 'SNOOZE', delay: Object.create(null) as unknown }],
    [
      'a delay that throws',
      {
        code: 'SNOOZE',
        get delay() {
          throw new Error('no');
        },
      },
    ],
    [
      'a code that throws',
      {
        get code() {
          throw new Error('no');
        },
      },
    ],
  ])('%s is a failure', (_, thrown) => {
    expect(classifyThrown(thrown, undefined)).toMatchObject({ outcome: 'failed', kind: 'failed' });
  });

  test('errors are told apart by their codes: another copy of the package may have thrown them', () => {
    expect(classifyThrown({ code: 'DISCARD', message: 'm' }, undefined)).toMatchObject({
      outcome: 'discarded',
    });
  });
});

describe('what a handler threw after its signal was aborted', () => {
  test('by the drain: handed back', () => {
    expect(classifyThrown(abort, new DrainDeadlineError())).toEqual({ outcome: 'released' });
  });

  test('by a cancellation: cancelled', () => {
    expect(classifyThrown(abort, new JobCancelledError(id))).toMatchObject({
      outcome: 'cancelled',
      thrown: { message: expect.stringContaining('was cancelled while it ran') as string },
    });
  });

  test('by the timeout: failed, for that reason', () => {
    expect(classifyThrown(abort, new JobTimeoutError('t', 50))).toMatchObject({
      outcome: 'failed',
      kind: 'timeout',
      thrown: { message: 'JobTimeoutError: t ran longer than its timeout of 50 ms' },
    });
  });

  test('by the loss of the claim: failed, with what was really thrown', () => {
    expect(classifyThrown(new Error('the real one'), new ClaimLostError(id, 'renewal'))).toMatchObject({
      outcome: 'failed',
      kind: 'claim_lost',
      thrown: { message: 'the real one' },
    });
  });
});
