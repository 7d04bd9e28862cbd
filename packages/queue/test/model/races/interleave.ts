/**
 * Every order in which a few transactions can take their steps. Pure.
 *
 * A transaction here is one statement of the queue. It *looks* (its snapshot is taken, its rows are found), *writes* (locks
 * what it found, and changes it) and *ends* (commits or rolls back). Where nothing stands between them, look and write are
 * one step. A look sees what is committed and touches nothing, so that moving it changes something only when it passes
 * somebody's end: of the orders that differ in no more than that, the one with the latest look stands for all.
 */
export interface Step {
  /** Which of the transactions, from 0. */
  readonly of: number;
  readonly takes: 'look' | 'write' | 'end';
}

export type Order = readonly Step[];

export interface Bounds {
  /** Whether looks are taken apart from writes. */
  readonly looks?: boolean;
  /** How often a transaction may be interrupted by another before its end; without a bound if absent. */
  readonly interruptions?: number;
}

/** All orders but those in which one transaction comes after the other. */
export function meetings(transactions: number, bounds: Bounds = {}): Order[] {
  return interleavings(transactions, bounds).filter((order) => interruptionsOf(order) > 0);
}

/** The other one of two comes and goes between the write and the end of this one. */
export function interrupted(of: number): Order {
  const other = 1 - of;
  return [
    { of, takes: 'write' },
    { of: other, takes: 'write' },
    { of: other, takes: 'end' },
    { of, takes: 'end' },
  ];
}

export function interleavings(transactions: number, { looks = false, interruptions }: Bounds = {}): Order[] {
  const left = Array.from({ length: transactions }, (_, of): Order => [
    { of, takes: 'write' },
    { of, takes: 'end' },
  ]);
  const orders = looks ? merges(left).flatMap((order) => withLooks(order, 0, transactions)) : merges(left);
  return interruptions === undefined
    ? orders
    : orders.filter((order) => interruptionsOf(order) <= interruptions);
}

/** `A looks, B writes, B ends, A writes, A ends`, with the names in place of A and B. */
export function spell(order: Order, names: readonly string[]): string {
  return order.map(({ of, takes }) => `${names[of]} ${takes}s`).join(', ');
}

/** When each step of a transaction comes, as its place in the order. */
export function placesOf(order: Order, of: number): { look: number; write: number; end: number } {
  const at = (takes: Step['takes']) => order.findIndex((step) => step.of === of && step.takes === takes);
  const [look, write, end] = [at('look'), at('write'), at('end')];
  return { look: look === -1 ? write : look, write, end };
}

function merges(left: readonly Order[]): Order[] {
  const open = left.filter((steps) => steps.length > 0);
  if (open.length === 0) return [[]];
  return open.flatMap((steps) => {
    const [first, ...rest] = steps;
    const others = open.map((other) => (other === steps ? rest : other));
    return first ? merges(others).map((order) => [first, ...order]) : [];
  });
}

/** Each transaction from `from` on looks with its write, or right before somebody's end that comes earlier than that. */
function withLooks(order: Order, from: number, transactions: number): Order[] {
  if (from === transactions) return [order];
  const { write } = placesOf(order, from);
  const ends = order.slice(0, write).flatMap(({ takes }, place) => (takes === 'end' ? [place] : []));
  const looked = ends.map((place) => order.toSpliced(place, 0, { of: from, takes: 'look' }));
  return [order, ...looked].flatMap((one) => withLooks(one, from + 1, transactions));
}

function interruptionsOf(order: Order): number {
  return order.filter((step, place) => {
    const next = order[place + 1];
    return next !== undefined && next.of !== step.of && step.takes !== 'end';
  }).length;
}
