import { expect, it } from 'vitest';
import { limitsOf, type Costs, type Fleet, type Primary } from '../model.ts';

const costs: Costs = { idleSecond: 1, emptyLook: 0.5, job: 2, renewal: 1, walBytes: 2_000 };
const fleet: Fleet = { workers: 10, connections: 4, renewals: 0, looksPerWake: 0 };
const primary: Primary = { cores: 4, share: 0.5, connections: 100, walBytesPerSecond: 100_000_000 };

it('gives jobs what the idle workers leave of the processors', () => {
  // 2,000 ms a second, 10 of them for the workers, 2 a job.
  expect(limitsOf(primary, costs, fleet)).toMatchObject({ byCpu: 995, quiet: 995, first: 'cpu' });
});

it('charges renewals to the workers, whatever their jobs', () => {
  // 10 workers × 0.1 a second × 1 ms.
  expect(limitsOf(primary, costs, { ...fleet, renewals: 0.1 }).byCpu).toBe(1_989 / 2);
});

it('tells up to where every worker can follow every wake-up, and that jobs are done beyond it', () => {
  // 10 workers × 2 looks × 0.5 ms beside 2 ms.
  const { quiet, byCpu } = limitsOf(primary, costs, { ...fleet, looksPerWake: 2 });

  expect(quiet).toBeCloseTo(1_990 / 12);
  expect(byCpu).toBe(995);
});

it('tells how long it takes until every worker has looked', () => {
  // 10 looks of 0.5 ms, four at once.
  expect(limitsOf(primary, costs, fleet).wave).toBe(1.25);
});

it('leaves nothing where idle workers take all of it', () => {
  expect(limitsOf(primary, costs, { ...fleet, workers: 2_001 })).toMatchObject({ byCpu: 0, quiet: 0 });
});

it('finds the end by WAL, and by connections before everything else', () => {
  const slowDisk = { ...primary, walBytesPerSecond: 1_000_000 };

  expect(limitsOf(slowDisk, costs, fleet)).toMatchObject({ byWal: 500, first: 'wal' });
  expect(limitsOf(slowDisk, costs, { ...fleet, workers: 26 })).toMatchObject({
    workers: 25,
    first: 'connections',
  });
});
