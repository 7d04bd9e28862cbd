/** What of the list is to be run: everything, faults by their names, or those whose name fits a pattern. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { FaultListError, type Fault } from './fault.ts';

export interface Arguments {
  readonly faults: readonly Fault[];
  /** Copies of the repository, and so faults at the same time. */
  readonly copies: number;
}

/** @throws FaultListError for a name that no fault has, and where nothing is left to run */
export function readArguments(args: readonly string[], all: readonly Fault[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { only: { type: 'string' }, copies: { type: 'string' } },
  });
  const unknown = positionals.filter((name) => !all.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new FaultListError(`no fault is called ${unknown.join(', ')}`);
  const pattern = new RegExp(values.only ?? '');
  const faults = all.filter(
    ({ name }) => (positionals.length === 0 || positionals.includes(name)) && pattern.test(name),
  );
  if (faults.length === 0) throw new FaultListError(`no fault fits ${pattern}`);
  const copies = Number(values.copies ?? availableParallelism());
  if (!Number.isInteger(copies) || copies < 1) throw new FaultListError('--copies is a whole number from 1');
  return { faults, copies: Math.min(copies, faults.length) };
}
