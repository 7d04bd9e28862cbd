/** Writes what a batch of ended runs came to, through the fence. */
import type { QueueClient } from './client.ts';
import type { Settlement } from './core/decide.ts';
import { completeAndDelete } from './store/complete-and-delete.ts';
import { completeJobs, type Completion } from './store/complete.ts';
import { findCompleted } from './store/confirm.ts';
import { withoutRepeats, type Fence, type Unsettled } from './store/fence.ts';
import { findGone } from './store/find-gone.ts';
import { onceMore } from './store/once-more.ts';
import { settleJobs, type EndedRun } from './store/settle.ts';

export interface SettledRun extends Fence {
  readonly claims: number;
  readonly settlement: Settlement;
  /** The claim may have completed the job already: its run called `ctx.complete(tx)`, or the answer to this was lost. */
  readonly completing: boolean;
}

export interface SettledRuns extends Unsettled {
  /** Had been completed by their claim before, whatever their settlement says. Absent where none may have been. */
  readonly completed?: readonly Fence[];
}

export interface SettleOptions {
  /** Completed jobs stay until they are cleaned up. Otherwise their completion deletes them, which no other end does. */
  readonly keepCompleted: boolean;
}

/**
 * Settles runs, completions first, in several statements where their results are large, then the rest, and tells which
 * of them changed nothing. A database error throws, and says nothing about any of them, though some may be written:
 * settling again is safe, because the fence is a condition on the row.
 */
export async function settleRuns(
  client: QueueClient,
  runs: readonly SettledRun[],
  options: SettleOptions = { keepCompleted: true },
): Promise<SettledRuns> {
  const completed = new Set(await findOwnCompletions(client, runs, options));
  const settled = await settleBatch(
    client,
    completed.size > 0 ? runs.filter((run) => !completed.has(run)) : runs,
    options,
  );
  return {
    lost: settled.flatMap(({ lost }) => lost),
    locked: settled.flatMap(({ locked }) => locked),
    ...(completed.size > 0 && { completed: [...completed] }),
  };
}

/** Those that have completed their job already. */
async function findOwnCompletions(
  client: QueueClient,
  runs: readonly SettledRun[],
  { keepCompleted }: SettleOptions,
): Promise<SettledRun[]> {
  const find = keepCompleted ? findCompleted : findGone;
  const completed: SettledRun[] = [];
  for (const batch of withoutRepeats(runs.filter(({ completing }) => completing))) {
    const found = await find(client, batch);
    completed.push(...batch.filter(({ id }) => found.has(id)));
  }
  return completed;
}

/** Of results in one statement, in UTF-16 units. A jsonb value holds 256 MB, and digits take six times as much in one as in JSON. */
const MOST_RESULT_CHARACTERS = 32_000_000;

async function settleBatch(
  client: QueueClient,
  batch: readonly SettledRun[],
  { keepCompleted }: SettleOptions,
): Promise<Unsettled[]> {
  const complete = keepCompleted ? completeJobs : completeAndDelete;
  const completions: Completion[] = [];
  const endings: EndedRun[] = [];
  for (const { id, claimToken, settlement } of batch) {
    if (settlement.settle === 'complete') completions.push({ id, claimToken, result: settlement.result });
    else endings.push({ id, claimToken, ending: settlement });
  }
  const settled: Unsettled[] = [];
  const parts = keepCompleted ? inParts(completions) : [completions];
  for (const part of parts) settled.push(await onceMore(() => complete(client, part)));
  for (const part of withoutRepeats(endings)) settled.push(await onceMore(() => settleJobs(client, part)));
  return settled;
}

function inParts(completions: readonly Completion[]): Completion[][] {
  const parts: Completion[][] = [[]];
  let characters = 0;
  for (const completion of completions) {
    characters += completion.result?.length ?? 0;
    if (characters > MOST_RESULT_CHARACTERS) {
      parts.push([]);
      characters = completion.result?.length ?? 0;
    }
    parts.at(-1)!.push(completion);
  }
  return parts;
}
