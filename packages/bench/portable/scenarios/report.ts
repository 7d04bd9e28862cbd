/** The results as a table for people. */
import { faultsOf, ratioOf, type ScenarioResult } from './result.ts';

const COLUMNS = [
  'scenario',
  'baseline/s',
  'during/s',
  'recovered/s',
  'ratio',
  'lost',
  'waiting at SIGTERM',
  'exit',
  'ms to exit',
];

export function report(results: readonly ScenarioResult[]): string {
  const rows = [COLUMNS, ...results.map(cells)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  const faults = results.flatMap((result) =>
    faultsOf(result).map((fault) => `- ${result.scenario}: ${fault}`),
  );
  const verdict = faults.length === 0 ? ['everything as it must be'] : ['not as it must be:', ...faults];
  return [...lines, '', ...verdict].join('\n');
}

function cells(result: ScenarioResult): string[] {
  if (result.outcome === 'failed') return [result.scenario, ...COLUMNS.slice(1).map(() => '–')];
  const { scenario, baseline, during, recovered, lost, pressure, endings } = result;
  return [
    scenario,
    rate(baseline),
    rate(during),
    rate(recovered),
    ratioOf(result)?.toFixed(2) ?? '',
    String(lost),
    String(pressure),
    endings.map(({ code, signal }) => signal ?? code).join(', '),
    endings.map(({ ms }) => ms).join(', '),
  ];
}

function rate(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(0);
}
