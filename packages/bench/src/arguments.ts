/** What the bench is asked to do. */
import { parseArgs } from 'node:util';
import { BenchError } from './bench-error.ts';
import { measurements } from './measurements/index.ts';
import type { Case } from './measurements/measurement.ts';
import type { Code } from './child/spawn.ts';
import { findContestant, systemNames, type Contestant } from './systems/index.ts';

export interface Arguments {
  readonly cases: readonly Case[];
  readonly contestants: readonly Contestant[];
  readonly repetitions: number;
  readonly jobs: number;
  readonly probes: number;
  readonly code: Code;
  /** Where the results go as JSON. */
  readonly json: string | undefined;
}

export const USAGE = `npm run bench -- [options]

  --only drain,enqueue     of ${measurements.map(({ name }) => name).join(', ')}; all by default
  --case '1 process'       only cases whose title has this in it
  --systems a,b            of ${systemNames.join(', ')}; all by default
  --repetitions 5
  --jobs 100000            of a drain; the other measurements have their size from it
  --probes 200             jobs of which the latency is measured in each repetition
  --source                 from source, without a build: while working on the queue. Its memory is then not comparable
  --json results.json      every single figure`;

/** @throws BenchError */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parse(args);
  const only = values.only?.split(',') ?? measurements.map(({ name }) => name);
  const systems = values.systems?.split(',') ?? systemNames;
  const chosen = only.map((name) => found('--only', name, (one) => measurements.find((m) => m.name === one)));
  const cases = chosen.flatMap((measurement) => measurement.cases);
  return {
    cases: cases.filter(({ title }) => title.includes(values.case ?? '')),
    contestants: systems.map((name) => found('--systems', name, findContestant)),
    repetitions: wholeNumber('--repetitions', values.repetitions),
    jobs: wholeNumber('--jobs', values.jobs),
    probes: wholeNumber('--probes', values.probes),
    code: values.source ? 'source' : 'built',
    json: values.json,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.filter((argument) => argument !== '--'),
      options: {
        only: { type: 'string' },
        case: { type: 'string' },
        systems: { type: 'string' },
        repetitions: { type: 'string', default: '5' },
        jobs: { type: 'string', default: '100000' },
        probes: { type: 'string', default: '200' },
        source: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
    });
  } catch (error) {
    throw new BenchError(`${(error as Error).message}\n\n${USAGE}`, { cause: error });
  }
}

function found<T>(option: string, name: string, find: (name: string) => T | undefined): T {
  const value = find(name);
  if (value === undefined) throw new BenchError(`${option}: no "${name}"\n\n${USAGE}`);
  return value;
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text.replaceAll('_', ''));
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new BenchError(`${option}: expected a whole number from 1, found "${text}"`);
}
