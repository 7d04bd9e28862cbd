/**
 * Draws faults and inflicts them, several at once. The seed decides which, in what order and with what times; what
 * they meet is up to the processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, World } from './faults/fault.ts';
import type { Random } from './random.ts';

const MOST_AT_ONCE = 4;
const PAUSE_MS = { min: 300, max: 1_000 };

export interface Inflicted {
  /** How often each kind was. */
  readonly byKind: Readonly<Record<string, number>>;
  /** What a fault itself could not do. */
  readonly problems: readonly string[];
}

/** Resolves once the time is over, every kind has been drawn, and everything is mended. */
export async function inflictFaults(
  world: World,
  faults: readonly Fault[],
  random: Random,
  forMs: number,
): Promise<Inflicted> {
  const byKind: Record<string, number> = Object.fromEntries(faults.map(({ kind }) => [kind, 0]));
  const problems: string[] = [];
  const underWay = new Set<Promise<void>>();
  const end = performance.now() + forMs;

  let drawn = 0;
  for (const fault of endlessly(faults, random)) {
    // On a slow machine rather later than with a kind left out.
    if (performance.now() >= end && drawn >= faults.length) break;
    drawn++;
    const { kind } = fault;
    byKind[kind]! += 1;
    const inflicting = fault
      .inflict(world, random.fork())
      .catch((error: unknown) => void problems.push(`fault "${kind}" itself failed: ${String(error)}`))
      .finally(() => underWay.delete(inflicting));
    underWay.add(inflicting);
    if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    await sleep(random.whole(PAUSE_MS.min, PAUSE_MS.max));
  }
  await Promise.all(underWay);
  return { byKind, problems };
}

/** All of them in some order, and again: none is left out for long. */
function* endlessly(faults: readonly Fault[], random: Random): Generator<Fault, never> {
  for (;;) yield* random.shuffled(faults);
}
