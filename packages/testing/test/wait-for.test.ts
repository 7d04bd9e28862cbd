import { describe, expect, test } from 'vitest';
import { waitFor } from '../src/wait-for.ts';

describe('waitFor', () => {
  test('resolves to the first truthy value', async () => {
    let asked = 0;
    expect(await waitFor(() => ++asked >= 3 && `asked ${asked}`, { interval: 1 })).toBe('asked 3');
  });

  test('asks again after a throw', async () => {
    let asked = 0;
    const condition = async () => {
      asked += 1;
      if (asked === 1) throw new Error('not yet');
      return true;
    };
    await waitFor(condition, { interval: 1 });
    expect(asked).toBe(2);
  });

  test('says what it waited for and what it saw last', async () => {
    const rows = [{ state: 'pending' }];
    const waiting = waitFor(() => rows.find((row) => row.state === 'running'), { timeout: 30, interval: 5 });
    await expect(waiting).rejects.toThrow(
      /not true after 30 ms: .*row\.state === .running.*it last returned undefined/,
    );
  });

  test('says what was thrown last', async () => {
    const waiting = waitFor(() => Promise.reject(new Error('connection refused')), {
      timeout: 30,
      interval: 5,
    });
    await expect(waiting).rejects.toThrow('it last threw Error: connection refused');
  });

  test('does not wait for ever on a condition that hangs', async () => {
    await expect(waitFor(() => new Promise<boolean>(() => {}), { timeout: 30 })).rejects.toThrow(
      'it last never came back',
    );
  });
});
