/** A write of a run that had lost its claim: it changed nothing, and must not pass unseen. */
import type { Fence } from './store/fence.ts';

export const FENCED_OPS = ['progress', 'complete', 'assert_claim', 'settle', 'renew'] as const;
export type FencedOp = (typeof FENCED_OPS)[number];

export interface FencedWrite {
  readonly op: FencedOp;
  readonly job: Fence & { readonly type: string };
  /** What was to be written: the settlement with its error, the progress. */
  readonly lost: unknown;
}
