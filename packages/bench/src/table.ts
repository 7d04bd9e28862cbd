/**
 * The results as one table: a line a system in each case, with the median, the range over the repetitions, and how many
 * times its figure Fencepost's is.
 */
import type { Results } from './results.ts';
import { medianRatio, summarise } from './statistics.ts';

const OURS = 'fencepost';
const HEADER = ['', 'median', 'min', 'max', `${OURS} ÷ it`];

export function formatTable(results: Results): string {
  const lines: string[][] = [HEADER];
  for (const row of results.rows()) {
    lines.push([], [`${row.case}: ${row.figure}`]);
    const values = results.valuesOf(row);
    const ours = values.get(OURS) ?? [];
    for (const [system, ofSystem] of values) {
      const { median, min, max } = summarise(ofSystem.filter((value) => value !== undefined));
      const ratio = system === OURS ? undefined : medianRatio(ours, ofSystem);
      lines.push([`  ${system}`, ...[median, min, max].map(figure), ratio?.toFixed(2) ?? '']);
    }
  }
  return align(lines);
}

/** Three digits that count. */
function figure(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Titles may be as long as they like; figures stand below each other. */
function align(lines: readonly string[][]): string {
  const widths = HEADER.map((_, column) =>
    Math.max(...lines.filter((line) => line.length > 1).map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line.length <= 1
        ? (line[0] ?? '')
        : line
            .map((cell, column) => cell[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0))
            .join('  '),
    )
    .join('\n');
}
