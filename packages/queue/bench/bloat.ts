/**
 * What ten million jobs leave behind: sizes of table and indexes, dead rows, and what a claim costs, while a steady
 * backlog is worked off and finished jobs are deleted after a while.
 *
 *     pnpm --filter @fencepost/queue bench:bloat --jobs 10000000
 *
 *     --jobs N      jobs to enqueue, claim, complete and delete; 1,000,000 by default
 *     --every N     jobs from one line to the next; a fortieth of all by default
 *     --kept N      finished jobs that are kept; 100,000 by default
 *     --backlog N   jobs that are due at any time; 50,000 by default
 *     --naptime S   seconds between two rounds of autovacuum; 60 by default, as in Postgres. Less of it shows in a short
 *                   run what a long one is like
 *     --compare     the same load with each of the settings in bloat/storage.ts, one after the other
 *
 * Postgres is a server of its own with its default settings. The last lines say whether anything grew.
 */
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@fencepost/testing';
import { Load, together, type Worked } from './bloat/load.ts';
import { openTable, type Table } from './bloat/table.ts';
import { describeVerdict, header, line, summary, type Interval } from './bloat/report.ts';
import { STORAGE, type Storage } from './bloat/storage.ts';

const { values } = parseArgs({
  // pnpm passes on the `--` that some put before the options.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    jobs: { type: 'string', default: '1000000' },
    every: { type: 'string' },
    kept: { type: 'string', default: '100000' },
    backlog: { type: 'string', default: '50000' },
    naptime: { type: 'string', default: '60' },
    compare: { type: 'boolean', default: false },
  },
});
const jobs = wholeNumber('jobs', values.jobs);
const every = wholeNumber('every', values.every ?? String(Math.max(1_000, Math.ceil(jobs / 40))));
const kept = wholeNumber('kept', values.kept);
const backlog = wholeNumber('backlog', values.backlog);
const naptime = wholeNumber('naptime', values.naptime);

/** Looks at a claim from one line to the next: what it costs goes up until a vacuum, and down with it. */
const PROBES = 10;

const server = await startEmbeddedPostgres({ settings: { autovacuum_naptime: naptime } });
try {
  console.log(
    `${jobs} jobs, ${backlog} due at any time, ${kept} finished ones kept, naptime ${naptime} s; times in ms, sizes in MB`,
  );
  const summaries: string[] = [];
  for (const storage of values.compare ? STORAGE : STORAGE.slice(0, 1)) {
    const table = await openTable(server.url);
    try {
      const intervals = await measure(table, storage);
      summaries.push(summary(storage.name, intervals));
      console.log(describeVerdict(intervals));
    } finally {
      await table.close();
    }
  }
  if (values.compare) console.log(`\n${summaries.join('\n')}`);
} finally {
  await server.stop();
}

async function measure(table: Table, storage: Storage): Promise<Interval[]> {
  console.log(`\n${storage.name}\n${header}`);
  for (const statement of storage.statements) await table.execute(statement);
  const load = new Load(table.prisma, { kept });
  await load.fill(backlog);

  const intervals: Interval[] = [];
  let before = await table.measure();
  while (load.completed < jobs) {
    const parts: Worked[] = [];
    const pages: number[] = [];
    for (let part = 0; part < PROBES; part++) {
      parts.push(await load.complete(Math.ceil(every / PROBES)));
      pages.push(await table.claimPages(load.request));
    }
    const after = await table.measure();
    const interval: Interval = { completed: load.completed, ...together(parts), pages, before, after };
    intervals.push(interval);
    console.log(line(interval));
    before = after;
  }
  return intervals;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text.replaceAll('_', ''));
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name}: expected a whole number from 1, found "${text}"`);
  process.exit(1);
}
