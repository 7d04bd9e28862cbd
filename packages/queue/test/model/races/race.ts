/**
 * Runs one race: operations in one order of their steps, each in a session of its own. What was passed by is tried again
 * afterwards, as whoever asked for it would do; then the table and every report must be those of a serial order.
 */
import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { QueueClient } from '../../../src/client.ts';
import { expectSound } from '../invariants.ts';
import { listed, readTable, withoutRows, type Table } from '../table.ts';
import { spell, type Order } from './interleave.ts';
import type { Operation } from './operations/operation.ts';
import { Runner, type Lane } from './runner.ts';
import { isSerial, type Done } from './serial.ts';
import type { Situation, Target } from './situations.ts';

export interface Race {
  readonly operations: readonly Operation[];
  readonly order: Order;
  /** The operation whose transaction is rolled back; none if absent. */
  readonly rolledBack?: number;
}

export async function runRace(
  reader: QueueClient,
  lanes: readonly Lane[],
  situation: Situation,
  race: Race,
): Promise<void> {
  const { targets } = situation;
  let ticks = 0;
  const tick = () => ticks++;
  const newRunner = (
    operation: Operation,
    at: number,
    left: readonly Target[],
    rivals: readonly Operation[],
  ) => {
    const lane = lanes[at];
    if (!lane) throw new Error('fewer lanes than operations');
    return new Runner(operation, left, lane, rivals);
  };
  const runners = race.operations.map((operation, at) =>
    newRunner(operation, at, targets, race.operations.toSpliced(at, 1)),
  );
  const all = [...runners];
  try {
    await takeSteps(runners, race, tick);
    const attempts: Runner[][] = [];
    for (const [at, first] of runners.entries()) {
      if (at === race.rolledBack) continue;
      const left = mayPassBy(first, runners) ? passedBy(first) : [];
      const again = left.length > 0 ? [newRunner(first.operation, at, left, [])] : [];
      all.push(...again);
      for (const second of again) {
        await second.write(tick);
        await second.end(tick, true);
      }
      attempts.push([first, ...again]);
    }
    expectSerial(situation, await readTable(reader), attempts);
  } catch (error) {
    const table = inspect(listed(await readTable(reader)));
    throw new Error(`${describeRace(race, runners)}\n${String(error)}\n${table}`, { cause: error });
  } finally {
    await Promise.all(all.map((runner) => runner.abandon()));
  }
}

async function takeSteps(runners: readonly Runner[], race: Race, tick: () => number): Promise<void> {
  const end = async (runner: Runner) => {
    await runner.end(tick, runners.indexOf(runner) !== race.rolledBack);
    if (runner.isWaiting) return;
    // Whoever waited for it goes on, and ends if its turn to end has come meanwhile.
    for (const other of runners.filter(({ isWaiting }) => isWaiting)) {
      await other.goOn(tick);
      if (other.isToEnd && !other.isWaiting) await end(other);
    }
  };
  for (const { of, takes } of race.order) {
    const runner = runners[of];
    if (!runner) throw new Error('an order of more operations than there are');
    if (takes === 'look') await runner.look(tick);
    else if (takes === 'write') await runner.write(tick);
    else await end(runner);
  }
}

/** For each of the targets by itself, since rows are independent of one another. */
function expectSerial(situation: Situation, table: Table, attempts: readonly Runner[][]): void {
  expectSound(table);
  for (const target of situation.targets) {
    const others = situation.targets.filter((other) => other !== target).map(({ id }) => id);
    const done = attempts.map((runners) => lastOf(runners, target));
    expect(done.filter(isEnding).length, 'settlements that took effect').toBeLessThanOrEqual(1);
    const [before, after] = [withoutRows(situation.table, others), withoutRows(table, others)];
    expect(isSerial(before, after, target, done), 'some serial order explains it').toBe(true);
  }
}

/** The targets that it has still to do, if it may have met somebody. */
function passedBy({ operation, targets, reports }: Runner): Target[] {
  if (reports === undefined) throw new Error(`${operation.name} waits, and nobody is left to wait for`);
  if (reports === 'given up') return [...targets];
  return targets.filter(({ id }) => operation.isPassedBy(reports.get(id)));
}

/** It met a lock, or what it had looked at was changed before it wrote. Given up, it only has to have met somebody. */
function mayPassBy(runner: Runner, runners: readonly Runner[]): boolean {
  return runners.some((other) => {
    if (other === runner) return false;
    if (runner.reports === 'given up') return other.began < runner.ended && runner.began < other.ended;
    const isHeld = other.wrote < runner.wrote && runner.wrote < other.ended;
    return isHeld || (runner.began < other.ended && other.ended < runner.wrote);
  });
}

function lastOf(attempts: readonly Runner[], target: Target): Done {
  const runner = attempts.findLast(({ targets }) => targets.includes(target));
  if (!runner) throw new Error('an operation without this target');
  const { operation, now, began, ended, reports } = runner;
  const report = reports instanceof Map ? (reports.get(target.id) as unknown) : reports;
  return { operation, now, report, began, ended };
}

const isEnding = ({ operation, report }: Done) => operation.isEnding?.(report) ?? false;

function describeRace({ operations, order, rolledBack }: Race, runners: readonly Runner[]): string {
  const names = operations.map(({ name }, at) => `${at + 1} ${name}`);
  const undone = rolledBack === undefined ? '' : `; ${names[rolledBack]} is rolled back`;
  const reports = runners.map((runner, at) => `${names[at]}: ${inspect(runner.reports, { depth: 5 })}`);
  return [`${spell(order, names)}${undone}`, ...reports].join('\n');
}
