/**
 * A statement of the queue as a race knows it: what it does to its targets for real, what the model says that it does, and
 * which of its reports mean that it passed a row by because somebody else held it.
 */
import type { QueueClient } from '../../../../src/client.ts';
import type { Moved } from '../../moves/move.ts';
import type { Instant, Table } from '../../table.ts';
import type { Target } from '../situations.ts';

/** What an operation said of each of its targets, by id. */
export type Reports = ReadonlyMap<string, unknown>;

export interface Operation {
  readonly name: string;
  /** By name, the operations whose transactions it may wait for. It passes by whatever else holds a row. */
  readonly waitsFor?: readonly string[] | 'anyone';
  /** Its SQL is Prisma's, in part. */
  readonly isByPrisma?: boolean;
  readonly attempt: (client: QueueClient, targets: readonly Target[]) => Promise<Reports>;
  /** @param report what was said for real, which tells what chance decided. */
  readonly move: (table: Table, now: Instant, target: Target, report: unknown) => Moved<unknown>;
  readonly isPassedBy: (report: unknown) => boolean;
  /** The report says that it ended the claim. */
  readonly isEnding?: (report: unknown) => boolean;
}

export const never = () => false;

/** For what is done to one row at a time. */
export async function reportEach(targets: readonly Target[], report: (target: Target) => Promise<unknown>) {
  const reports = new Map<string, unknown>();
  for (const target of targets) reports.set(target.id, await report(target));
  return reports;
}
