/** One small fault: a change of the source that takes away one behaviour, and the tests that have to notice. */

export interface Fault {
  /** Where it is and what is wrong, in short: `claim/no-lease`. */
  readonly name: string;
  /** The behaviour that it breaks. */
  readonly breaks: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly replace: string;
  readonly by: string;
  /** The test files of which one has to fail. */
  readonly tests: readonly string[];
  /** Of those, only tests whose name fits: a pattern for vitest's `-t`. */
  readonly only?: string;
}

/** The list of faults and the source do not fit each other: nothing was run. */
export class FaultListError extends Error {
  readonly code = 'FAULT_LIST';
  override readonly name = 'FaultListError';
}

/**
 * The file's text with the fault in it.
 * @throws FaultListError unless what is to be replaced is there exactly once
 */
export function applyFault(fault: Fault, text: string): string {
  const found = text.split(fault.replace).length - 1;
  if (found !== 1) {
    const times = found === 0 ? 'is not' : `stands ${found} times`;
    throw new FaultListError(`${fault.name}: what it replaces ${times} in ${fault.file}: ${fault.replace}`);
  }
  // A function, because `$&` and the like in a replacement text have a meaning.
  return text.replace(fault.replace, () => fault.by);
}
