/** The delay after attempt n is `baseMs * 2^(n-1)`, at most `maxMs`, of which a random half to whole. */
export interface RetryPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
}
