/** Waits that grow while something keeps failing. */
export interface Backoff {
  /** The next wait in milliseconds, a random half to whole of a duration that doubles up to the ceiling. */
  next(): number;
  reset(): void;
}

export function createBackoff(
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
  random = Math.random,
): Backoff {
  let failures = 0;
  return {
    next: () => Math.min(maxMs, firstMs * 2 ** Math.min(failures++, 20)) * (0.5 + random() / 2),
    reset: () => {
      failures = 0;
    },
  };
}
