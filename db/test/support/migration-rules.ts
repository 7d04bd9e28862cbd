/** What a folder of migrations has to keep, beyond what Prisma checks. */
import { splitStatements } from './sql-statements.ts';

export interface Migration {
  /** The folder's name. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Prisma applies migrations in the order of their names, and a database that has them is never given one that sorts
 * before: names are a time to the second and a word, and what came later in history sorts later.
 *
 * @param batches the names in the order in which they came to be: a commit's together, the newest last
 */
export function checkOrder(batches: readonly (readonly string[])[]): string[] {
  const problems: string[] = [];
  let newest = '';
  for (const names of batches) {
    for (const name of names) {
      if (!isWellFormed(name))
        problems.push(`${name}: expected a time to the second and a name, 20261130000000_job_queue`);
      if (name <= newest) problems.push(`${name}: sorts before ${newest}, which came to be earlier`);
    }
    newest = [newest, ...names].toSorted().at(-1) ?? '';
  }
  const times = new Map<string, string>();
  for (const name of batches.flat()) {
    const time = name.slice(0, 14);
    const other = times.get(time);
    if (other !== undefined) problems.push(`${name}: has the time of ${other}`);
    times.set(time, name);
  }
  return problems;
}

/**
 * An index on a table that is there already is the only statement of its migration: together with others it would hold
 * the table's lock for all of them, and could never become CONCURRENTLY.
 */
export function checkIndexes({ name, sql }: Migration): string[] {
  const statements = splitStatements(sql);
  const created = new Set(
    statements.flatMap((statement) =>
      tableOf(statement, /^CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?/i),
    ),
  );
  return statements
    .flatMap((statement) => tableOf(statement, /^CREATE\s+(?:UNIQUE\s+)?INDEX\b.*?\sON\s+(?:ONLY\s+)?/is))
    .filter((table) => !created.has(table) && statements.length > 1)
    .map((table) => `${name}: the index on ${table} has to be a migration of its own`);
}

function isWellFormed(name: string): boolean {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_[a-z0-9_]+$/.exec(name) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(8, 10) === day;
}

/** The table's name after `prefix`, unquoted; nothing when the statement is another one. */
function tableOf(statement: string, prefix: RegExp): string[] {
  const rest = prefix.exec(statement)?.[0];
  if (rest === undefined) return [];
  const name = /^(?:"[^"]+"|\w+)(?:\.(?:"[^"]+"|\w+))?/.exec(statement.slice(rest.length))?.[0] ?? '';
  return [name.replaceAll('"', '').replace(/^public\./, '')];
}
