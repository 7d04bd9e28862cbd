/** The machine's one monotonic clock, which all processes read alike: no difference of clocks is ever measured. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
