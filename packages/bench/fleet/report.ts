/** The results as tables for people. */
import { costsOf, emptyClaimsOf } from './costs.ts';
import { forecast } from './forecast.ts';
import type { FleetResult } from './measure-fleet.ts';
import type { Reading } from './reading.ts';
import { STATEMENT_KINDS } from './statement-kinds.ts';

type Row = readonly (string | number | undefined)[];

export function report(results: readonly FleetResult[]): string {
  return [
    'idle, a second',
    table(
      ['workers', 'statements', 'a worker', 'CPU ms', 'a worker', 'WAL B', 'sessions', 'MB'],
      results.map(idleRow),
    ),
    'woken, an enqueue',
    table(['workers', 'claims', 'surveys', 'statements', 'CPU ms'], results.map(wokenRow)),
    'under load',
    table(
      [
        ...['workers', 'offered/s', 'done/s', 'statements/job', 'jobs/claim', 'empty claims/job'],
        ...['CPU ms/job', 'cores', 'WAL B/job', 'syncs/job', 'wait p50', 'p95', 'enqueue p50', 'p95'],
        ...['sessions', 'active', 'lock', 'inside'],
      ],
      results.map(loadRow),
    ),
    'server ms a statement, planned and executed',
    table(
      ['workers', '', ...STATEMENT_KINDS],
      results.flatMap(({ workers, woken, load }) => [
        [workers, 'woken', ...msOf(woken)],
        [workers, 'load', ...msOf(load)],
      ]),
    ),
    'what the model goes by: CPU ms of the server',
    table(['workers', 'idle second', 'empty look', 'job', 'renewal', 'WAL B/job'], results.map(costsRow)),
    `by calculation, from the costs of ${results.at(-1)?.workers} workers`,
    table(
      [
        'cores',
        'workers',
        'quiet up to/s',
        'at most/s',
        'WAL at most/s',
        'ms a wave',
        'workers by connections',
      ],
      results.slice(-1).flatMap(forecastRows),
    ),
  ].join('\n');
}

function forecastRows(result: FleetResult): Row[] {
  return (forecast(result) ?? []).map(({ primary, fleet, limits }) => [
    ...[primary.cores, fleet.workers, limits.quiet, limits.byCpu, limits.byWal, limits.wave, limits.workers],
  ]);
}

function idleRow({ workers, idle, residentSet }: FleetResult): Row {
  const statements = callsOf(idle) / idle.seconds;
  const cpu = idle.cpuMs === undefined ? undefined : idle.cpuMs / idle.seconds;
  return [
    ...[workers, statements, statements / workers, cpu, cpu === undefined ? undefined : cpu / workers],
    ...[idle.walBytes / idle.seconds, idle.sessions.open, residentSet / 1e6],
  ];
}

function wokenRow({ workers, idle, woken }: FleetResult): Row {
  const beyondIdle = (now: number | undefined, then: number | undefined) =>
    now === undefined || then === undefined
      ? undefined
      : (now - (then / idle.seconds) * woken.seconds) / woken.enqueued;
  return [
    workers,
    beyondIdle(woken.statements.claim.calls, idle.statements.claim.calls),
    beyondIdle(woken.statements.survey.calls, idle.statements.survey.calls),
    beyondIdle(callsOf(woken), callsOf(idle)),
    beyondIdle(woken.cpuMs, idle.cpuMs),
  ];
}

function loadRow({ workers, rate, load }: FleetResult): Row {
  const { completed, seconds, cpuMs, waits, enqueueMs, sessions } = load;
  return [
    ...[workers, rate, completed / seconds, callsOf(load) / completed, waits.enqueued / waits.claims],
    emptyClaimsOf(load) / completed,
    ...(cpuMs === undefined ? [undefined, undefined] : [cpuMs / completed, cpuMs / seconds / 1_000]),
    ...[load.walBytes / completed, load.walSyncs / completed, waits.p50 ?? undefined, waits.p95 ?? undefined],
    ...[enqueueMs.p50, enqueueMs.p95],
    ...[sessions.open, sessions.active, sessions.waitingForLock, sessions.waitingInside],
  ];
}

function costsRow(result: FleetResult): Row {
  const costs = costsOf(result);
  return [result.workers, costs?.idleSecond, costs?.emptyLook, costs?.job, costs?.renewal, costs?.walBytes];
}

function msOf({ statements }: Reading): number[] {
  return STATEMENT_KINDS.map((kind) => {
    const { calls, planMs, execMs } = statements[kind];
    return (planMs + execMs) / calls;
  });
}

function callsOf({ statements }: Reading): number {
  return Object.values(statements).reduce((sum, { calls }) => sum + calls, 0);
}

function table(columns: readonly string[], rows: readonly Row[]): string {
  const cells = [columns, ...rows.map((row) => row.map(spell))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padStart(widths[column]!)).join('  '));
  return `${lines.join('\n')}\n`;
}

/** Three figures are all that a measurement on a shared machine is worth. */
function spell(value: string | number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (typeof value === 'string') return value;
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(value >= 1 ? 2 : 3);
}
