/**
 * The state machine of DESIGN.md, section 4, as a model that runs beside the real store: whatever sequence of commands, the
 * whole table is what the model says, and the invariants hold. What fails is shrunk and printed with its seed and path:
 * `{ seed, path }` beside `numRuns`, and the printed `replayPath` for `fc.commands`, run it again.
 *
 * It looks for as long as the test's timeout lets it; for ten minutes with
 * `npx vitest run --testTimeout 600000 packages/queue/test/model/state-machine.test.ts`.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase } from '../fixtures/database.ts';
import { begin } from './commands/begin.ts';
import { claimCommand } from './commands/claim.ts';
import { enqueueCommand } from './commands/enqueue.ts';
import { loseCommand } from './commands/lose.ts';
import { cancelCommand, retryCommand } from './commands/operate.ts';
import { progressCommand, renewCommand } from './commands/renew.ts';
import { runCommand } from './commands/run.ts';
import { settleCommand, settleTwiceCommand } from './commands/settle.ts';
import { cleanupCommand, sweepCommand } from './commands/sweep.ts';
import { fallsDueCommand, growsOldCommand, leaseEndsCommand, longPastCommand } from './commands/time.ts';
import { World, type Command } from './world.ts';

const COMMANDS = 60;

/** A sequence takes half of it on a quiet machine, where the time is enough for all of them. */
const MS_A_SEQUENCE = 750;

/** Left for the last sequence, and for what is printed of one that failed. */
const MARGIN_MS = 10_000;
/** A machine that is too slow for these has shown nothing. */
const FEWEST_SEQUENCES = 4;

// Whoever waits for a lock here waits for ever.
const { prisma } = await openDatabase({ lock_timeout: '2s' });

/** Drawn by weight: what brings a job back for another attempt most, since that is where the rules meet. */
const weighted: [number, fc.Arbitrary<Command>][] = [
  [2, enqueueCommand],
  [4, claimCommand],
  [8, settleCommand],
  [1, settleTwiceCommand],
  [2, renewCommand],
  [2, progressCommand],
  [2, runCommand],
  [4, loseCommand],
  [2, sweepCommand],
  [1, cancelCommand],
  [2, retryCommand],
  [1, cleanupCommand],
  [3, leaseEndsCommand],
  [4, fallsDueCommand],
  [1, growsOldCommand],
  [2, longPastCommand],
];
const commands = weighted.flatMap(([weight, one]) => Array.from({ length: weight }, () => one));

test('whatever is done in whatever order, the table is what the model says', async ({ task }) => {
  let sequencesRun = 0;
  const end = performance.now() + task.timeout - MARGIN_MS;
  const sequences = fc.commands(commands, { maxCommands: COMMANDS, size: 'max' });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    // No sequence is cut short, but those that are left, and what is left of shrinking, are passed over.
    if (performance.now() > end) return;
    sequencesRun++;
    await prisma.jobQueue.deleteMany();
    const [model, real] = [new World(), { prisma }];
    await begin(model, real);
    await fc.asyncModelRun(() => ({ model, real }), sequence);
  });
  await fc.assert(property, {
    numRuns: Math.ceil(task.timeout / MS_A_SEQUENCE),
    plugins: [fc.unbiased()],
  });
  expect(sequencesRun).toBeGreaterThanOrEqual(FEWEST_SEQUENCES);
});
