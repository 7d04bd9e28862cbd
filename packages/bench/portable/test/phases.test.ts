import { expect, it } from 'vitest';
import { meanIn, median, ratesIn, readSample, totalOf, type Sample } from '../scenarios/phases.ts';
import { faultsOf, type Measured } from '../scenarios/result.ts';

const phase = { name: 'baseline', from: 10_000, to: 13_000 } as const;

function completed(value: number, at: number): Sample {
  return { metric: 'completion_rate', value, windowS: 1, at };
}

it('adds up what the replicas tell for one tick', () => {
  const samples = [completed(5, 11_002), completed(7, 11_009), completed(4, 12_001)];

  expect(ratesIn(phase, 'completion_rate', samples)).toEqual([12, 4]);
});

it('leaves out ticks whose window reaches into another phase, and other metrics', () => {
  const samples = [completed(5, 10_500), completed(5, 13_001), { ...completed(5, 12_000), metric: 'x' }];

  expect(ratesIn(phase, 'completion_rate', samples)).toEqual([]);
});

it('spreads what was completed over the whole phase, the seconds without a sample included', () => {
  const samples = [completed(9, 9_900), completed(6, 11_000), completed(3, 12_000), completed(9, 13_500)];

  expect(meanIn(phase, 'completion_rate', samples)).toBe(3);
});

it('reads samples alone, and counts what they speak of', () => {
  const record = {
    kind: 'adapter',
    metric: 'enqueue_rate',
    value: 10,
    window_s: 1.5,
    t: '2026-11-30T00:00:00.000Z',
  };
  const sample = readSample(record)!;

  expect(readSample({ kind: 'descriptor' })).toBeUndefined();
  expect(totalOf('enqueue_rate', [sample, sample, completed(1, 0)])).toBe(30);
});

it('takes the middle one, or the mean of the two', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, 0]);
});

const well: Measured = {
  outcome: 'measured',
  scenario: 'any',
  ...{ baseline: 100, during: 50, recovered: 95, lost: 0, pressure: 9, leftRunning: 0 },
  endings: [{ pid: 1, code: 0, signal: null, ms: 5_000 }],
};

it.each<[string, Partial<Measured>]>([
  ['recovered to 0.94 only', { recovered: 94 }],
  ['recovered to NaN only', { baseline: 0, recovered: 0 }],
  ['2 jobs lost', { lost: 2 }],
  ['1 jobs not handed back at the end', { leftRunning: 1 }],
  ['ended with 1', { endings: [{ pid: 1, code: 1, signal: null, ms: 9 }] }],
  ['ended with SIGKILL', { endings: [{ pid: 1, code: null, signal: 'SIGKILL', ms: 9 }] }],
  ['took 5001 ms to end', { endings: [{ pid: 1, code: 0, signal: null, ms: 5_001 }] }],
])('finds: %s', (fault, change) => {
  expect(faultsOf(well)).toEqual([]);
  expect(faultsOf({ ...well, ...change })).toEqual([fault]);
});
