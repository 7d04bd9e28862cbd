/**
 * What the types promise of an argument, for callers that have none: an error that names the argument, before anything
 * is written. Options are read once, so that what was checked is what is used.
 */
import type { QueueClient } from './client.ts';
import { InvalidOptionError } from './errors.ts';

/** @throws InvalidOptionError, for instance where the contract was given first. */
export function checkClient(field: string, client: QueueClient): void {
  if (isFunctionAt(client, ['$queryRaw']) && isFunctionAt(client, ['jobQueue', 'updateMany'])) return;
  throw new InvalidOptionError(field, client, 'a Prisma client or transaction that has the model JobQueue');
}

/** @throws InvalidOptionError, for instance where a handler or a bare definition was given. */
export function checkContract(field: string, contract: ContractShape): void {
  if (isFunctionAt(contract, ['payload', '~standard', 'validate'])) {
    const { type, maxAttempts, maxCrashes } = contract;
    if (typeof type === 'string' && Number.isInteger(maxAttempts) && Number.isInteger(maxCrashes)) return;
  }
  throw new InvalidOptionError(field, contract, 'what defineJob returns');
}

/** What an enqueue reads of a contract. */
interface ContractShape {
  readonly type: string;
  readonly payload: unknown;
  readonly maxAttempts: number;
  readonly maxCrashes: number;
}

/**
 * The named options and no others: a misspelled one would be ignored without a word.
 * @throws InvalidOptionError
 */
export function readOptions<Options extends object>(
  field: string,
  options: Options,
  names: readonly (keyof Options & string)[],
): Options {
  if (typeof options !== 'object' || options === null || isUnreadableOrList(options))
    throw new InvalidOptionError(field, options, 'an object');
  const read: Partial<Options> = {};
  let unknown: string | undefined;
  try {
    unknown = Object.keys(options).find((key) => !(names as readonly string[]).includes(key));
    for (const name of names) read[name] = options[name];
  } catch {
    throw new InvalidOptionError(field, options, 'an object that can be read');
  }
  if (unknown === undefined) return read as Options;
  throw new InvalidOptionError(`${field}.${unknown}`, unknown, `an option named ${names.join(', ')}`);
}

function isUnreadableOrList(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return true;
  }
}

/** Whether there is a function at a path of properties. Never throws, whatever the value does. */
export function isFunctionAt(value: unknown, path: readonly string[]): boolean {
  try {
    let found = value;
    for (const key of path) found = (found as Record<string, unknown> | null | undefined)?.[key];
    return typeof found === 'function';
  } catch {
    return false;
  }
}
