/**
 * A deadlock or a serialization failure says that nothing happened and that the same statement may go through now. The
 * queue's statements are written not to deadlock, but a database may default to a stricter isolation, and people hold
 * locks of their own.
 */
import { sqlState } from './sql-state.ts';

const TRIES = 5;
const TRANSIENT = new Set(['40P01', '40001']);

const IN_FAILED_TRANSACTION = '25P02';

/** For statements that are a transaction of their own: inside somebody's transaction there is nothing left to retry. */
export async function onceMore<T>(statement: () => PromiseLike<T>): Promise<T> {
  let transient: unknown;
  for (let left = TRIES - 1; ; left--) {
    try {
      return await statement();
    } catch (error) {
      const state = sqlState(error) ?? '';
      // Somebody's transaction is over. What made it so is what they have to hear of, to retry all of it.
      if (state === IN_FAILED_TRANSACTION && transient !== undefined) throw transient;
      if (left === 0 || !TRANSIENT.has(state)) throw error;
      transient = error;
    }
  }
}
