/**
 * From where claims look. The pending jobs of one type and level of priority are one range of an index, in the order in
 * which they are claimed. Entries of jobs that have left a range stay at its head for as long as some snapshot may need
 * them, and a look from the beginning passes every one of them. A look from a remembered head does not.
 *
 * A head is a shortcut and no truth: a job that becomes visible late, or that goes back to its old place, may be before
 * it. So whoever remembers heads finds them anew from time to time.
 */
export interface Head {
  /** As the database spells it: with its offset, to the microsecond. */
  readonly runAt: string;
  /** Thousands of jobs that were enqueued by one transaction are due at the same time. */
  readonly id: string;
}

/** By type, one head a level of priority. */
export type Heads = ReadonlyMap<string, readonly Head[]>;

/**
 * No head is later than this before the statement that it was learned from: a job that is enqueued is due as of the
 * beginning of its transaction, and is seen at its end. Longer, and each look would pass more of the entries that
 * claims have just left: at 10,000 jobs a second, 2,000.
 */
export const HEAD_SLACK_MS = 200;

/** The id before every other. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface Claimed extends Head {
  readonly type: string;
  readonly priority: number;
  readonly claimedAt: string;
}

/**
 * The heads after a claim that looked from the given ones, or from the beginning.
 *
 * @param claimed in the order in which they are to be started, as a claim returns them.
 */
export function afterClaim(heads: Heads, claimed: readonly Claimed[]): Heads {
  const next = new Map(heads);
  const lastOfEach = new Map<string, Claimed>();
  for (const job of claimed) lastOfEach.set(job.type, job);
  for (const last of lastOfEach.values()) {
    const ofType = heads.get(last.type);
    if (ofType === undefined) continue;
    const latest = { runAt: new Date(latestHeadMs(last)).toISOString(), id: FIRST_ID };
    const after = ofType.map((head, priority) => {
      // The better levels were looked through to their end, or there would have been no claim of a lesser one.
      if (priority < last.priority) return latest;
      if (priority > last.priority) return head;
      return Date.parse(last.runAt) > latestHeadMs(last) ? latest : { runAt: last.runAt, id: last.id };
    });
    next.set(last.type, after);
  }
  return next;
}

/** Whether some head was found before the one that was known: a job that claims from there would not see. */
export function anyBefore(found: Heads, known: Heads): boolean {
  return [...found].some(([type, heads]) =>
    heads.some(({ runAt }, priority) => {
      const knownAt = known.get(type)?.[priority]?.runAt;
      return knownAt !== undefined && Date.parse(runAt) < Date.parse(knownAt);
    }),
  );
}

function latestHeadMs({ claimedAt }: Claimed): number {
  return Date.parse(claimedAt) - HEAD_SLACK_MS;
}
