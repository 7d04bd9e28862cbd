/**
 * The fence: a run's writes name the row, the token of its claim and the state `running`, all three. The rows of one
 * claim share its token, and a process that lost a row and claimed it again holds two tokens for it: it is the pair of
 * id and token that counts, in a batch as well.
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

/** The pair as one text, as Postgres spells it: in lower case, which it is of what a claim has brought. */
export function nameOf({ id, claimToken }: Fence): string {
  return claimToken + id;
}

/** A batch as the statements take it: each token that is in it, and the ids that go with it. */
export interface FencedRows {
  readonly tokens: readonly string[];
  /** A `uuid[]` each, as text: the members of a list pass through Prisma and pg one by one (docs/performance.md). */
  readonly ids: readonly string[];
}

/** @throws MissingTokenError */
export function byToken(fences: readonly Fence[]): FencedRows {
  const groups = new Map<string, string[]>();
  for (const { id, claimToken } of fences) {
    const group = groups.get(claimToken);
    if (group) group.push(uuid('id', id));
    else groups.set(uuid('claimToken', claimToken), [uuid('id', id)]);
  }
  return { tokens: [...groups.keys()], ids: [...groups.values()].map((ids) => `{${ids.join(',')}}`) };
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
