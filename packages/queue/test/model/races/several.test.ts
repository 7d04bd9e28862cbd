/**
 * Races of three and four, and races for two rows: of the orders, those with few interruptions, which is where mistakes
 * show. See two.test.ts.
 */
import { expect, test } from 'vitest';
import { openArena } from './arena.ts';
import { meetings } from './interleave.ts';
import { cancels, enqueues, retries } from './operations/apps.ts';
import type { Operation } from './operations/operation.ts';
import { completes, completesAndDeletes, completesInTransaction, fails, renews } from './operations/runs.ts';
import { claims, cleansUp, sweeps } from './operations/workers.ts';
import type { SituationName } from './situations.ts';

const arena = await openArena();

const namesOf = (operations: readonly Operation[]) => operations.map(({ name }) => name).join(', ');

const THREE: [SituationName, Operation[]][] = [
  ['expired', [sweeps, claims, completes]],
  ['expired', [sweeps, claims, renews]],
  ['expired', [sweeps, claims, completesAndDeletes]],
  ['expired', [sweeps, cancels, completesInTransaction]],
  ['pending', [claims, cancels, retries]],
  ['dead for long', [retries, cleansUp, enqueues]],
];

test.each(THREE.map(([name, three]) => ({ name, three, what: namesOf(three) })))(
  'to a row that is $name, three at once do what they do in some serial order: $what',
  async ({ name, three }) => {
    await arena.race({ name }, three, meetings(3, { looks: true, interruptions: 2 }));
    expect.hasAssertions();
  },
  120_000,
);

test('to an expired row, four at once do what they do in some serial order: sweep, claim, complete, cancel', async () => {
  const four = [sweeps, claims, completes, cancels];
  await arena.race({ name: 'expired' }, four, meetings(4, { interruptions: 1 }));
  expect.hasAssertions();
}, 120_000);

const BATCHES: [Operation, Operation][] = [
  [sweeps, sweeps],
  [sweeps, completes],
  [sweeps, completesAndDeletes],
  [completesAndDeletes, fails],
  [sweeps, renews],
  [completes, fails],
  [renews, fails],
  [renews, cancels],
  [cleansUp, retries],
];

test.each(BATCHES.map((two) => ({ two, what: namesOf(two) })))(
  'to two rows, two batches at once do to each row what they do in some serial order: $what',
  async ({ two }) => {
    const name = two.includes(cleansUp) ? 'dead for long' : 'expired';
    await arena.race({ name, rows: 2 }, two, meetings(2, { looks: true }));
    expect.hasAssertions();
  },
);
