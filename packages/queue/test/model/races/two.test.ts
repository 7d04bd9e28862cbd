/**
 * Races of two, enumerated: whatever two transactions do to one row, in every order in which their statements can meet, comes
 * to what they do one after the other. No statement waits for a row that somebody else holds, but for those that say so in
 * operations/.
 */
import { expect, test } from 'vitest';
import { openArena } from './arena.ts';
import { interrupted, meetings } from './interleave.ts';
import { cancels, enqueues, retries } from './operations/apps.ts';
import type { Operation } from './operations/operation.ts';
import {
  asserts,
  completes,
  completesAndDeletes,
  completesInTransaction,
  deletesInTransaction,
  fails,
  renews,
  writesProgress,
} from './operations/runs.ts';
import { claims, cleansUp, sweeps } from './operations/workers.ts';
import type { SituationName } from './situations.ts';

const arena = await openArena();

/** What can do something to a row in such a state. */
const CONTENDERS: Partial<Record<SituationName, readonly Operation[]>> = {
  pending: [claims, cancels, enqueues, retries],
  running: [completes, fails, renews, writesProgress, completesInTransaction, cancels],
  expired: [sweeps, claims, completes, fails, renews, completesInTransaction, asserts, cancels],
  'expired just now': [sweeps, fails],
  'expired at its last attempt': [sweeps, fails],
  'expired at its last crash': [sweeps, fails],
  'expired and to be cancelled': [sweeps, fails, completes, renews],
  'dead for long': [retries, cleansUp, enqueues, cancels, claims],
};

const situations = Object.entries(CONTENDERS) as [SituationName, readonly Operation[]][];

test.each(situations)(
  'to a row that is %s, two at once do what one after the other does',
  async (name, contenders) => {
    for (const pair of pairsOf(contenders)) {
      const [first, second] = pair;
      const orders = meetings(2, { looks: true });
      // Which of two alike comes first makes no difference.
      const isDifferent = first === second ? orders.filter(([step]) => step?.of === 0) : orders;
      await arena.race({ name }, pair, isDifferent);
      // What is rolled back was met all the same.
      await arena.race({ name }, pair, [interrupted(0)], 0);
      if (first !== second) await arena.race({ name }, pair, [interrupted(1)], 1);
    }
    expect.hasAssertions();
  },
  120_000,
);

/** What a completion that deletes may meet, of a worker that keeps nothing or of any other. */
const MEETING_A_DELETION: Partial<Record<SituationName, readonly Operation[]>> = {
  running: [completes, fails, renews, writesProgress, completesInTransaction, cancels, enqueues],
  expired: [sweeps, claims, asserts, retries],
};

const deletions = Object.entries(MEETING_A_DELETION).flatMap(([name, rivals]) =>
  [completesAndDeletes, deletesInTransaction].map((deletion) => ({
    name: name as SituationName,
    rivals: [...rivals, completesAndDeletes, deletesInTransaction],
    deletion,
    what: deletion.name,
  })),
);

test.each(deletions)(
  'to a row that is $name, $what and another at once do what one after the other does',
  async ({ name, rivals, deletion }) => {
    for (const rival of rivals) {
      await arena.race({ name }, [deletion, rival], meetings(2, { looks: true }));
      // What is rolled back was met all the same.
      await arena.race({ name }, [deletion, rival], [interrupted(0)], 0);
      await arena.race({ name }, [deletion, rival], [interrupted(1)], 1);
    }
    expect.hasAssertions();
  },
  120_000,
);

const OF_A_RUN = [
  ...[completes, fails, renews, writesProgress, completesInTransaction, asserts],
  ...[completesAndDeletes, deletesInTransaction],
];

test('to a row that another claim owns, no write of a run does anything, whatever is done to it meanwhile', async () => {
  const name = 'claimed by another';
  for (const write of OF_A_RUN) await arena.race({ name }, [write, cancels], meetings(2, { looks: true }));
  expect.hasAssertions();
});

function pairsOf(items: readonly Operation[]): [Operation, Operation][] {
  return items.flatMap((one, n) => items.slice(n).map((other): [Operation, Operation] => [one, other]));
}
