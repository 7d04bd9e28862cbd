import { FIRST_ID, type Heads } from '../core/heads.ts';

/** Heads as statements take them: of each type in turn, level by level. Empty for a look from the beginning. */
export function headArrays(
  types: readonly string[],
  heads: Heads | undefined,
): { runAts: string[]; ids: string[] } {
  const inOrder = heads === undefined ? [] : types.flatMap((type) => heads.get(type) ?? BEGINNING);
  return { runAts: inOrder.map(({ runAt }) => runAt), ids: inOrder.map(({ id }) => id) };
}

const BEGINNING = Array.from({ length: 4 }, () => ({ runAt: '-infinity', id: FIRST_ID }));
