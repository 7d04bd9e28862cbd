/**
 * The bench: every case, several times, and within each repetition one system after the other, each on a fresh store and
 * in fresh processes. Only the ratios count: they are what another machine has in common with this one.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { EmbeddedPostgresError, TestDatabaseError } from '@fencepost/testing';
import { readArguments, type Arguments } from './arguments.ts';
import { BenchError } from './bench-error.ts';
import { Bench } from './bench.ts';
import { build } from './build.ts';
import { atTheirBest, type GridPoint } from './grid.ts';
import type { Case } from './measurements/measurement.ts';
import { findRedis } from './redis.ts';
import { Results } from './results.ts';
import type { Contestant } from './systems/index.ts';
import { formatTable } from './table.ts';

try {
  process.exitCode = await main(readArguments(process.argv.slice(2)));
} catch (error) {
  const isExpected = [BenchError, EmbeddedPostgresError, TestDatabaseError].some(
    (kind) => error instanceof kind,
  );
  console.error(isExpected ? (error as Error).message : error);
  process.exitCode = 1;
}

async function main(options: Arguments): Promise<number> {
  const needsRedis = options.contestants.some(({ store }) => store !== 'postgres');
  const redis = needsRedis ? await findRedis() : undefined;
  if (options.code === 'built') await build();

  const bench = await Bench.open(options);
  const results = new Results();
  const grid: GridPoint[] = [];
  try {
    const machine = {
      cpus: cpus().length,
      model: cpus()[0]?.model,
      node: process.version,
      postgres: bench.postgres.version,
      redis,
    };
    console.log(`${JSON.stringify(machine)}\n`);
    const contestants = await atTheirBest(bench, options.contestants, (point) => {
      grid.push(point);
      console.log(`${point.name}: ${Math.round(point.jobsPerSecond)} jobs/s`);
    });
    for (const case_ of options.cases) {
      await repeat(bench, case_, contestants, options.repetitions, results);
    }
    console.log(`\n${formatTable(results)}`);
    if (options.json) {
      const { samples, failures } = results;
      await writeFile(
        options.json,
        JSON.stringify({ machine, options: summaryOf(options), grid, samples, failures }),
      );
    }
  } finally {
    await bench.close();
  }
  for (const { case: title, system, error } of results.failures) {
    console.error(`FAILED ${title}, ${system}: ${error}`);
  }
  return results.failures.length === 0 ? 0 : 1;
}

async function repeat(
  bench: Bench,
  case_: Case,
  contestants: readonly Contestant[],
  repetitions: number,
  results: Results,
): Promise<void> {
  const taking = contestants.filter((contestant) => case_.takesPart(contestant));
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const contestant of rotated(taking, repetition)) {
      const of = { case: case_.title, system: contestant.name, repetition };
      try {
        const figures = await case_.run(bench, contestant);
        results.add(of, figures);
        const said = Object.entries(figures).map(([figure, value]) => `${figure} ${value.toPrecision(4)}`);
        console.log(`${case_.title}, ${contestant.name}: ${said.join(', ')}`);
      } catch (error) {
        results.fail(of, error);
        console.error(`${case_.title}, ${contestant.name}: ${String(error)}`);
      }
    }
  }
}

/** Another one goes first in each repetition. */
function rotated<T>(items: readonly T[], by: number): T[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function summaryOf({ repetitions, jobs, probes, code }: Arguments) {
  return { repetitions, jobs, probes, code };
}
