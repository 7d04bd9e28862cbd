/** A row that somebody else holds is mostly held for a moment: a claim, a renewal, a settlement. */
import { setTimeout as delay } from 'node:timers/promises';

/** Some 300 ms altogether: longer than those, and no longer than a person notices. */
const PAUSES_MS = [10, 20, 40, 80, 150];

/** Asks again while the answer is `busy`, a few times. */
export async function untilFree<Result extends { readonly outcome: string }>(
  ask: () => Promise<Result>,
): Promise<Result> {
  let result = await ask();
  for (const pause of PAUSES_MS) {
    if (result.outcome !== 'busy') break;
    await delay(pause);
    result = await ask();
  }
  return result;
}
