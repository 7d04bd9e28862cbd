/** What the soak's own worker processes write into their log for the judge. */

/** By every run whose handler returned or threw, with `fence`. */
export const RUN_ENDED = 'soak: run ended';
/** By a handler that met a `ClaimLostError`, with `fence` and the `op` that threw it. */
export const CLAIM_WAS_LOST = 'soak: claim was lost';
/** By a worker that has drained, of its metrics: `fenced`, by the write that was refused, and `claimsFailed`. */
export const COUNTED = 'soak: counted';
