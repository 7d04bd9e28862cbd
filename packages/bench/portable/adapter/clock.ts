/** Milliseconds since 1970, in fractions: latencies of less than a millisecond, measured between processes of one host. */
export function wallClockMs(): number {
  return performance.timeOrigin + performance.now();
}
