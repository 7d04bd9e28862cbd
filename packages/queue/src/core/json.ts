/**
 * What may go into a jsonb column. Two policies for the same obstacles: a payload that Postgres could not hold, or that
 * JSON would quietly change, is refused (`encodeJson`), since its sender is there to hear of it; errors, results and
 * progress are made storable (`storableJson`, `storableText`), since a failure that cannot be written is a job that hangs.
 */
import { lossOf, numeralGrowth, textProblem } from './json-loss.ts';
import { MAX_JSON_DEPTH } from './limits.ts';

export interface JsonProblem {
  readonly path: string;
  readonly message: string;
}

export type Encoded =
  | { readonly outcome: 'encoded'; readonly json: string }
  | { readonly outcome: 'refused'; readonly problems: readonly JsonProblem[] };

/** At most so many problems are listed: the first ones say enough. */
const MAX_PROBLEMS = 10;

/** JSON of a value exactly as `JSON.stringify` spells it, or what stands against it, by path. */
export function encodeJson(value: unknown, maxBytes: number): Encoded {
  const problems: JsonProblem[] = [];
  const places = new Map<unknown, { readonly path: string; readonly depth: number }>();
  let growth = 0;
  const check = function (this: unknown, key: string, item: unknown): unknown {
    const holder = places.get(this);
    const path = pathOf(holder?.path, key, Array.isArray(this));
    const problem = lossOf(item, this, key) ?? keyProblem(key);
    if (problem) problems.push({ path, message: problem });
    if (problems.length >= MAX_PROBLEMS) throw new TooManyProblems();
    if (typeof item === 'object' && item !== null) {
      const depth = (holder?.depth ?? 0) + 1;
      if (depth > MAX_JSON_DEPTH) throw new TooDeep();
      places.set(item, { path, depth });
    }
    growth += numeralGrowth(item);
    return problem ? null : item;
  };

  let json: string | undefined;
  try {
    json = JSON.stringify(value, check);
  } catch (error) {
    if (!(error instanceof TooManyProblems)) problems.push({ path: 'payload', message: unwritable(error) });
  }
  if (json === undefined && problems.length === 0)
    problems.push({ path: 'payload', message: 'is undefined' });
  if (json !== undefined && problems.length === 0 && withStorableText(json) !== json) {
    problems.push({ path: 'payload', message: 'holds text that Postgres cannot store' });
  }
  if (json === undefined || problems.length > 0) return { outcome: 'refused', problems };

  const bytes = Buffer.byteLength(json) + growth;
  if (bytes > maxBytes) {
    const message = `is ${bytes} bytes of JSON, at most ${maxBytes} are allowed`;
    return { outcome: 'refused', problems: [{ path: 'payload', message }] };
  }
  return { outcome: 'encoded', json };
}

/** JSON that jsonb takes, whatever the value: what cannot be kept is replaced. Null where there is nothing to keep. */
export function storableJson(value: unknown, maxBytes: number): string | null {
  if (value === undefined) return null;
  let json: string | undefined;
  const { replacer, growth } = storableItems();
  try {
    json = JSON.stringify(value, replacer);
  } catch (error) {
    return JSON.stringify({ unstorable: storableText(unwritable(error), 200) });
  }
  if (json === undefined) return null;
  json = withStorableText(json);
  const bytes = Buffer.byteLength(json) + growth();
  return bytes <= maxBytes ? json : JSON.stringify({ truncated: true, bytes });
}

/** Text that Postgres takes: NUL and lone surrogates replaced by U+FFFD, cut to a number of UTF-16 units. */
export function storableText(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;
  return cut.replaceAll('\0', '\uFFFD').toWellFormed();
}

class TooManyProblems extends Error {}

/** Deeper than a stack of Postgres's may hold, whatever Node's own holds: a worker thread's is four times as large. */
class TooDeep extends RangeError {}

function keyProblem(key: string): string | undefined {
  const problem = textProblem(key);
  return problem && `its key ${problem}`;
}

function pathOf(parent: string | undefined, key: string, inArray: boolean): string {
  if (parent === undefined) return 'payload';
  const own = inArray ? `[${key}]` : key === '' ? '[""]' : `.${key}`;
  return parent === 'payload' ? own.replace(/^\./, '') : `${parent}${own}`;
}

/** What was thrown may be anything, and need not let itself be looked at. */
function unwritable(error: unknown): string {
  try {
    if (error instanceof TooDeep || (error instanceof RangeError && error.message.includes('call stack')))
      return 'is nested too deeply for JSON';
    if (error instanceof TypeError && error.message.includes('circular'))
      return 'is cyclic, which JSON cannot hold';
    return `could not be read: ${error instanceof Error ? error.message : 'something was thrown'}`;
  } catch {
    return 'could not be read: something was thrown';
  }
}

function storableItems() {
  const ancestors: unknown[] = [];
  let growth = 0;
  const replacer = function (this: unknown, _key: string, item: unknown): unknown {
    growth += numeralGrowth(item);
    if (typeof item === 'bigint') return item.toString();
    if (typeof item !== 'object' || item === null) return item;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(item)) return '[circular]';
    ancestors.push(item);
    if (ancestors.length > MAX_JSON_DEPTH) throw new TooDeep();
    return item;
  };
  return { replacer, growth: () => growth };
}

/**
 * NUL and lone surrogates of keys and values replaced by U+FFFD. On the JSON, because whatever objects made it, there
 * they are all spelled alike: as an escape, which JSON.stringify makes of no surrogate that has its other half.
 */
function withStorableText(json: string): string {
  if (!json.includes('\\')) return json;
  return json.replace(/\\(u0000|ud[89a-f]..|.)/gi, (escape, what: string) =>
    what.length > 1 ? '\uFFFD' : escape,
  );
}
