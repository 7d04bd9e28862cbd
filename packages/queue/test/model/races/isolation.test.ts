/**
 * The same in databases that default to a stricter isolation, where what would pass a changed row by is given up instead
 * (40001), and tried again by whoever asked for it.
 */
import { describe, expect, test } from 'vitest';
import { openArena } from './arena.ts';
import { meetings } from './interleave.ts';
import { cancels, enqueues, retries } from './operations/apps.ts';
import type { Operation } from './operations/operation.ts';
import {
  completes,
  completesAndDeletes,
  completesInTransaction,
  deletesInTransaction,
  fails,
  renews,
} from './operations/runs.ts';
import { claims, sweeps } from './operations/workers.ts';
import type { SituationName } from './situations.ts';

const PAIRS: [SituationName, Operation, Operation][] = [
  ['expired', sweeps, completes],
  ['expired', sweeps, renews],
  ['expired', fails, renews],
  ['expired', sweeps, completesInTransaction],
  ['running', completes, cancels],
  ['expired', sweeps, completesAndDeletes],
  ['expired', sweeps, deletesInTransaction],
  ['running', completesAndDeletes, cancels],
  ['pending', claims, claims],
  ['pending', claims, cancels],
  ['dead for long', retries, enqueues],
];

describe.each(['repeatable read', 'serializable'])('in a database that defaults to %s', async (isolation) => {
  const arena = await openArena({ default_transaction_isolation: isolation });

  test.each(PAIRS.map(([name, ...pair]) => ({ name, pair, what: pair.map((one) => one.name).join(', ') })))(
    'to a row that is $name, two at once do what one after the other does: $what',
    async ({ name, pair }) => {
      await arena.race({ name }, pair, meetings(2, { looks: true }));
      expect.hasAssertions();
    },
  );
});
