/** Lines of measurements, and the verdict: whether what came later was larger or slower than what came earlier. */
import type { Worked } from './load.ts';
import type { Measurement } from './table.ts';

export interface Interval extends Worked {
  /** Jobs so far. */
  readonly completed: number;
  /** What looks at a claim of one job found, in pages. */
  readonly pages: readonly number[];
  readonly before: Measurement;
  readonly after: Measurement;
}

/** Growth from the second to the last quarter of a run that still counts as none. */
const TOLERANCE = 1.25;

const COLUMNS: readonly [title: string, width: number, value: (interval: Interval) => string | number][] = [
  ['jobs', 9, ({ completed }) => completed],
  ['jobs/s', 7, ({ jobs, seconds }) => Math.round(jobs / seconds)],
  ['claim p50', 10, ({ claims }) => quantile(claims, 0.5).toFixed(1)],
  ['p95', 6, ({ claims }) => quantile(claims, 0.95).toFixed(1)],
  ['pages', 7, ({ pages }) => Math.round(mean(pages))],
  ['table', 7, ({ after }) => megabytes(after.heap)],
  ['toast', 6, ({ after }) => megabytes(after.toast)],
  ['pkey', 6, ({ after }) => megabytes(after.indexes['pkey'])],
  ['due', 6, ({ after }) => megabytes(after.indexes['due'])],
  ['lease', 6, ({ after }) => megabytes(after.indexes['lease'])],
  ['finished', 9, ({ after }) => megabytes(after.indexes['finished'])],
  ['dead rows', 10, ({ after }) => after.dead],
  [
    'HOT %',
    6,
    ({ before, after }) => percent(after.hotUpdates - before.hotUpdates, after.updates - before.updates),
  ],
  ['vacuums', 8, ({ after }) => after.vacuums],
  ['analyzes', 9, ({ after }) => after.analyzes],
  ['WAL B/job', 10, ({ before, after, jobs }) => Math.round((after.walBytes - before.walBytes) / jobs)],
];

export const header = COLUMNS.map(([title, width]) => title.padStart(width)).join('');

export function line(interval: Interval): string {
  return COLUMNS.map(([, width, value]) => String(value(interval)).padStart(width)).join('');
}

/** One line for a whole run, its first quarter left out, in which the table fills up. */
export function summary(name: string, intervals: readonly Interval[]): string {
  const steady = intervals.slice(Math.floor(intervals.length / 4));
  const claims = steady.flatMap((interval) => interval.claims);
  const jobs = sum(steady, (interval) => interval.jobs);
  const wal = (steady.at(-1)?.after.walBytes ?? 0) - (steady[0]?.before.walBytes ?? 0);
  return [
    name.padEnd(30),
    `${Math.round(jobs / sum(steady, ({ seconds }) => seconds))} jobs/s`,
    `claim p50 ${quantile(claims, 0.5).toFixed(1)} p95 ${quantile(claims, 0.95).toFixed(1)} max ${quantile(claims, 1).toFixed(1)} ms`,
    `pages ${Math.round(mean(steady.flatMap(({ pages }) => pages)))}`,
    `table at most ${megabytes(Math.max(...steady.map(({ after }) => after.heap)))} MB`,
    `indexes ${megabytes(Math.max(...steady.map(({ after }) => sizeOfIndexes(after))))} MB`,
    `WAL ${Math.round(wal / jobs)} B/job`,
    `vacuums ${steady.at(-1)?.after.vacuums}`,
  ].join('   ');
}

export function describeVerdict(intervals: readonly Interval[]): string {
  const quarter = Math.floor(intervals.length / 4);
  if (quarter === 0) return 'Too few lines to tell whether anything grew.';
  const earlier = intervals.slice(quarter, 2 * quarter);
  const later = intervals.slice(-quarter);
  const growth = {
    'the table': ratio(earlier, later, (part) => Math.max(...part.map(({ after }) => after.heap))),
    'its indexes': ratio(earlier, later, (part) =>
      Math.max(...part.map(({ after }) => sizeOfIndexes(after))),
    ),
    'the median claim': ratio(earlier, later, (part) =>
      quantile(
        part.flatMap(({ claims }) => claims),
        0.5,
      ),
    ),
    'the pages it looks through': ratio(earlier, later, (part) => mean(part.flatMap(({ pages }) => pages))),
  };
  const isFlat = Object.values(growth).every((factor) => factor <= TOLERANCE);
  const factors = Object.entries(growth).map(([what, factor]) => `${what} × ${factor.toFixed(2)}`);
  return `${isFlat ? 'Flat' : 'NOT flat'}, from the second to the last quarter: ${factors.join(', ')}`;
}

function ratio(
  earlier: readonly Interval[],
  later: readonly Interval[],
  value: (part: readonly Interval[]) => number,
): number {
  return value(later) / value(earlier);
}

function sizeOfIndexes({ indexes }: Measurement): number {
  return sum(Object.values(indexes), (bytes) => bytes);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

function mean(values: readonly number[]): number {
  return sum(values, (value) => value) / values.length;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

const percent = (part: number, whole: number) => Math.round((100 * part) / Math.max(1, whole));

const megabytes = (bytes = 0) => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
