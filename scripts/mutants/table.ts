/** What is printed: a row a fault as it is judged, and at the end what is left to do and the counts. */
import type { Fault } from './fault.ts';
import type { Verdict } from './judge.ts';
import type { Tried } from './run-faults.ts';

export interface Table {
  readonly header: string;
  readonly row: (tried: Tried) => string;
}

export function table(faults: readonly Fault[]): Table {
  const nameWidth = Math.max(...faults.map(({ name }) => name.length));
  const breaksWidth = Math.max(...faults.map(({ breaks }) => breaks.length));
  const line = (mark: string, name: string, breaks: string, seconds: string, by: string) =>
    `${mark} ${name.padEnd(nameWidth)}  ${breaks.padEnd(breaksWidth)}  ${seconds.padStart(5)}  ${by}`;
  return {
    header: line(' ', 'fault', 'breaks', 's', 'killed by'),
    row: ({ fault, verdict, seconds }) =>
      line(MARKS[verdict.verdict], fault.name, fault.breaks, seconds.toFixed(1), outcome(verdict)),
  };
}

/** The last lines; the very last one counts. */
export function summary(all: readonly Tried[], seconds: number): string[] {
  const of = (verdict: Verdict['verdict']) => all.filter((tried) => tried.verdict.verdict === verdict);
  const survivors = of('survived').map(
    ({ fault }) => `Survived: ${fault.name} (${fault.file}): ${fault.breaks}`,
  );
  const broken = of('broken').map(({ fault }) => `Broken: ${fault.name} (${fault.file})`);
  const time = `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const counts = `${of('killed').length} killed, ${survivors.length} survived, ${broken.length} broken`;
  return [...survivors, ...broken, `${all.length} faults: ${counts}, in ${time}`];
}

const MARKS = { killed: '✓', survived: '✗', broken: '!' } as const;

function outcome(verdict: Verdict): string {
  switch (verdict.verdict) {
    case 'killed':
      return `${verdict.byTimeout ? '(by timeout) ' : ''}${verdict.by}`;
    case 'survived':
      return 'nothing: it survived';
    case 'broken':
      return `broken: ${verdict.why}`;
  }
}
