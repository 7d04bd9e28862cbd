/**
 * `npm run mutants`: puts each fault of the list into a scratch copy of the repository and runs the tests that have to
 * notice it. Exit code 1 if one is not noticed, or cannot be tried.
 *
 *     npm run mutants                                    every fault
 *     npm run mutants -- claim/no-lease sweep/no-grace   those two
 *     npm run mutants -- --only '^claim/' --copies 1     those whose name fits, one after the other
 */
import { EmbeddedPostgresError, repositoryRoot, TestDatabaseError } from '@fencepost/testing';
import { readArguments, type Arguments } from './arguments.ts';
import { checkList } from './check-list.ts';
import { makeCopies } from './copy.ts';
import { startDatabase } from './database.ts';
import { FaultListError } from './fault.ts';
import { allFaults } from './faults/index.ts';
import { tryFaults, tryWithoutFault, type Tried, type Workplace } from './run-faults.ts';
import { summary, table } from './table.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // A second one is for whoever cannot wait; what is left behind is removed all the same, after this process.
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort(new Error(`stopped by ${signal}`));
  });
}

try {
  process.exitCode = await mutants(readArguments(process.argv.slice(2), allFaults));
} catch (error) {
  const expected = [FaultListError, EmbeddedPostgresError, TestDatabaseError].some(
    (kind) => error instanceof kind,
  );
  const isStop = interrupted.signal.aborted;
  console.error(expected || isStop ? (error as Error).message : error);
  process.exitCode = isStop ? 130 : 1;
}

async function mutants({ faults, copies: count }: Arguments): Promise<number> {
  const started = performance.now();
  await checkList(allFaults, repositoryRoot);
  const database = await startDatabase();
  try {
    const copies = await makeCopies(count);
    try {
      const place = { roots: copies.roots, database, signal: interrupted.signal };
      const tried = await tryAll(place, faults);
      if (tried === undefined) return 1;
      console.log(`\n${summary(tried, (performance.now() - started) / 1000).join('\n')}`);
      return tried.every(({ verdict }) => verdict.verdict === 'killed') ? 0 : 1;
    } finally {
      await copies.remove();
    }
  } finally {
    await database.stop();
  }
}

/** Undefined where the tests fail without any fault, so that their failures say nothing. */
async function tryAll(place: Workplace, faults: Arguments['faults']): Promise<Tried[] | undefined> {
  console.log(
    `${faults.length} faults in ${place.roots.length} copies; first the tests without any of them …`,
  );
  const failures = await tryWithoutFault(place, faults);
  if (failures.length > 0) {
    console.log(`No fault was tried, because tests fail without one:\n${failures.join('\n')}`);
    return undefined;
  }
  const { header, row } = table(faults);
  console.log(header);
  const tried: Tried[] = [];
  await tryFaults(place, faults, (result) => {
    tried.push(result);
    console.log(row(result));
  });
  return tried;
}
