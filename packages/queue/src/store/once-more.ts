/**
 * A deadlock or a serialization failure says that nothing happened and that the same statement may go through now. The
 * queue's statements are written not to deadlock, but a database may default to a stricter isolation, and people hold
 * locks of their own.
 */
import { sqlState } from './sql-state.ts';

/**
 * Where `serializable` is the default, more than half of the claims of a few busy workers fail, since each reads what the
 * others write; fifteen tries were not always enough. One of them always succeeds, so that all get on.
 */
const TRIES = 50;
const TRANSIENT = new Set(['40P01', '40001']);

const IN_FAILED_TRANSACTION = '25P02';

/** Helps a statement that is a transaction of its own. Inside somebody's transaction, that one is what has to be retried. */
export async function onceMore<T>(statement: () => PromiseLike<T>): Promise<T> {
  let transient: Error | undefined;
  for (let left = TRIES - 1; ; left--) {
    try {
      return await statement();
    } catch (error) {
      const state = sqlState(error) ?? '';
      // Somebody's transaction is over: what made it so is what they have to hear of.
      if (state === IN_FAILED_TRANSACTION && transient !== undefined) throw transient;
      if (left === 0 || !TRANSIENT.has(state)) throw error;
      transient = error as Error;
    }
  }
}
