/** The clock of the process, as runs need it: for durations, never for a time in the table. */
export interface Timers {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls the task once, after so many milliseconds, unless the returned function is called before. */
  after(ms: number, task: () => void): () => void;
}
