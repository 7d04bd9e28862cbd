/** Offers a rate as the harness does: `ENQUEUE <n>` on the replica's stdin, some forty times a second. */
import type { Writable } from 'node:stream';
import { Credit } from '../adapter/credit.ts';

const TICK_MS = 25;
const MOST_IN_TOKEN = 128;

export interface Pacer {
  rate: number;
  stop(): void;
}

export function startPacer(stdin: Writable, rate: number): Pacer {
  const credit = new Credit(performance.now());
  const pacer = { rate, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    let owed = credit.take(pacer.rate, performance.now(), Infinity);
    // A replica that does not read loses its tokens, so that nobody waits for it.
    if (stdin.writableNeedDrain) return;
    for (; owed > 0; owed -= MOST_IN_TOKEN) stdin.write(`ENQUEUE ${Math.min(owed, MOST_IN_TOKEN)}\n`);
  }, TICK_MS);
  return pacer;
}
