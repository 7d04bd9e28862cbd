/**
 * What may go into a jsonb column. Two policies for the same obstacles: a payload that Postgres could not hold, or that
 * JSON would quietly change, is refused (`encodeJson`), since its sender is there to hear of it; errors, results and
 * progress are made storable (`storableJson`, `storableText`), since a failure that cannot be written is a job that hangs.
 */
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
  const paths = new Map<unknown, string>();
  const check = function (this: unknown, key: string, item: unknown): unknown {
    const path = pathOf(paths.get(this), key, Array.isArray(this));
    const problem = problemOf(item, Array.isArray(this)) ?? keyProblem(key);
    if (problem) problems.push({ path, message: problem });
    if (problems.length >= MAX_PROBLEMS) throw new TooManyProblems();
    if (typeof item === 'object' && item !== null) paths.set(item, path);
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

  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) {
    const message = `is ${bytes} bytes of JSON, at most ${maxBytes} are allowed`;
    return { outcome: 'refused', problems: [{ path: 'payload', message }] };
  }
  return { outcome: 'encoded', json };
}

/** JSON that jsonb takes, whatever the value: what cannot be kept is replaced. Null where there is nothing to keep. */
export function storableJson(value: unknown, maxBytes: number): string | null {
  let json: string | undefined;
  try {
    json = JSON.stringify(value, storableItems());
  } catch (error) {
    return JSON.stringify({ unstorable: storableText(unwritable(error), 200) });
  }
  if (json === undefined) return null;
  json = withStorableText(json);
  const bytes = Buffer.byteLength(json);
  return bytes <= maxBytes ? json : JSON.stringify({ truncated: true, bytes });
}

/** Text that Postgres takes: NUL and lone surrogates replaced by U+FFFD, cut to a number of UTF-16 units. */
export function storableText(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;
  return cut.replaceAll('\0', '\uFFFD').toWellFormed();
}

class TooManyProblems extends Error {}

function problemOf(item: unknown, inArray: boolean): string | undefined {
  switch (typeof item) {
    case 'string':
      return textProblem(item);
    case 'number':
      return Number.isFinite(item) ? undefined : `is ${item}, which JSON cannot hold`;
    case 'bigint':
      return 'is a BigInt, which JSON cannot hold';
    case 'function':
    case 'symbol':
      return `is a ${typeof item}, which JSON cannot hold`;
    case 'undefined':
      return inArray ? 'is undefined, which JSON would turn into null' : undefined;
    default:
      return isOpaque(item) ? `is a ${item?.constructor?.name ?? 'value'}, which JSON would lose` : undefined;
  }
}

function keyProblem(key: string): string | undefined {
  const problem = textProblem(key);
  return problem && `its key ${problem}`;
}

function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character, which Postgres cannot store';
  return text.isWellFormed() ? undefined : 'holds a lone surrogate, which Postgres cannot store';
}

/** Objects that JSON.stringify spells as {} or as numbered keys. */
function isOpaque(item: unknown): boolean {
  return (
    item instanceof Map ||
    item instanceof Set ||
    item instanceof Promise ||
    item instanceof RegExp ||
    item instanceof Error ||
    item instanceof ArrayBuffer ||
    ArrayBuffer.isView(item)
  );
}

function pathOf(parent: string | undefined, key: string, inArray: boolean): string {
  if (parent === undefined) return 'payload';
  const own = inArray ? `[${key}]` : `.${key}`;
  return parent === 'payload' ? own.replace(/^\./, '') : `${parent}${own}`;
}

function unwritable(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply for JSON';
  if (error instanceof TypeError && error.message.includes('circular'))
    return 'is cyclic, which JSON cannot hold';
  return `could not be read: ${error instanceof Error ? error.message : 'something was thrown'}`;
}

function storableItems(): (this: unknown, key: string, item: unknown) => unknown {
  const ancestors: unknown[] = [];
  return function (this: unknown, _key: string, item: unknown): unknown {
    if (typeof item === 'bigint') return item.toString();
    if (typeof item !== 'object' || item === null) return item;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(item)) return '[circular]';
    ancestors.push(item);
    return item;
  };
}

/**
 * NUL and lone surrogates of keys and values replaced by U+FFFD. On the JSON, because whatever objects made it, there
 * they are all spelled alike: as an escape, which JSON.stringify makes of no surrogate that has its other half.
 */
function withStorableText(json: string): string {
  return json.replace(/\\(u0000|ud[89a-f]..|.)/gi, (escape, what: string) =>
    what.length > 1 ? '\uFFFD' : escape,
  );
}
