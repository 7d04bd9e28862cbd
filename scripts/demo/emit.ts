/** The events that the demo makes up, some of which the receiver refuses at first. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from './api.ts';
import type { Ledger } from './ledger.ts';

// Of this run alone: endpoints of earlier runs are in the database still, and must not hear of these.
const run = randomBytes(2).toString('hex');
const names = ['order.placed', 'order.paid', 'order.shipped'];

export const eventTypes = names.map((name) => `${name}.${run}`);

/** Every fifth event fails once, every tenth twice. */
export function failuresFor(data: unknown): number {
  const { order } = data as { order: number };
  if (order % 10 === 0) return 2;
  return order % 5 === 0 ? 1 : 0;
}

let order = 0;

export interface Pace {
  /** How many. */
  count: number;
  /** Milliseconds from one to the next. */
  everyMs: number;
  /** Ends it early. */
  signal: AbortSignal;
}

/** Resolves when the web app has accepted them all. */
export async function emitEvents(api: Api, ledger: Ledger, { count, everyMs, signal }: Pace): Promise<void> {
  for (let emitted = 0; emitted < count && !signal.aborted; emitted += 1) {
    order += 1;
    const type = eventTypes[order % eventTypes.length] ?? '';
    ledger.accepted(type, await api.emit({ type, payload: { order, cents: 100 * order } }));
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
