/** What the demo shows: a line as each thing happens, and the sums at the end. */

const started = performance.now();
const dim = (text: string) => (process.stdout.isTTY ? `\u001B[2m${text}\u001B[0m` : text);

export function say(text: string): void {
  console.log(text);
}

/** @param what `accepted`, `claimed`, `refused` or `delivered` */
export function showStep(what: string, event: { type: string; id: string }, detail: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(3).padStart(8);
  console.log(
    `${dim(`${seconds} s`)}  ${what.padEnd(9)}  ${event.type.padEnd(18)}  ${dim(event.id.slice(-12))}  ${detail}`,
  );
}

/** The middle and the worst of some milliseconds. */
export function spread(values: number[]): string {
  if (values.length === 0) return 'none';
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `median ${Math.round(median)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`;
}
