/**
 * The fence: a run's writes name the row, the token of the run's claim and the state `running`, all three. A process
 * that lost a row and claimed it again holds two tokens for it, so that in a batch each row goes with its own token.
 */
import type { FencedWhere } from '../client.ts';
import { isUuid } from '../core/uuid.ts';
import { MissingTokenError } from '../errors.ts';

export interface Fence {
  readonly id: string;
  readonly claimToken: string;
}

/** What became of a fenced write, for the rows that it did not change. */
export interface Unsettled {
  /** Seen without the token: the claim is gone, and so is the write. */
  readonly lost: readonly Fence[];
  /** Still held by the token, but somebody else had the row locked: to be tried again. */
  readonly locked: readonly Fence[];
}

/** @throws MissingTokenError because Prisma leaves a condition out whose value is undefined. */
export function fencedWhere({ id, claimToken }: Fence): FencedWhere {
  return { id: uuid('id', id), claimToken: uuid('claimToken', claimToken), state: 'running' };
}

/**
 * A batch as the statements take it: the JSON of `{ id: token }`, spelled by hand because UUIDs need no escapes. One text
 * and no lists, whose members pass through Prisma and pg one by one: docs/performance.md.
 */
export function tokensById(fences: readonly Fence[]): string {
  const pairs: string[] = [];
  for (const { id, claimToken } of fences) {
    pairs.push(`"${uuid('id', id)}":"${uuid('claimToken', claimToken)}"`);
  }
  return `{${pairs.join(',')}}`;
}

/** Splits a batch so that no row stands in one statement twice, with two tokens. */
export function withoutRepeats<Row extends Fence>(rows: readonly Row[]): Row[][] {
  const batches: Map<string, Row>[] = [];
  for (const row of rows) {
    const batch = batches.find((candidate) => !candidate.has(row.id));
    if (batch) batch.set(row.id, row);
    else batches.push(new Map([[row.id, row]]));
  }
  return batches.map((batch) => [...batch.values()]);
}

function uuid(field: string, value: unknown): string {
  if (!isUuid(value)) throw new MissingTokenError(field, value);
  return value;
}
