/** What keeps the bench from measuring, in a sentence that helps. */
export class BenchError extends Error {
  readonly code = 'BENCH';
  override readonly name = 'BenchError';
}
