/** What becomes of a value on its way through JSON into jsonb: what would be lost or changed, and what would grow. */

/**
 * What JSON or jsonb would lose of an item as `JSON.stringify` shows it to its replacer: after `toJSON`, in the object
 * that holds it.
 */
export function lossOf(item: unknown, holder: unknown, key: string): string | undefined {
  switch (typeof item) {
    case 'string':
      return textProblem(item);
    case 'number':
      return numberProblem(item);
    case 'bigint':
      return 'is a BigInt, which JSON cannot hold';
    case 'function':
    case 'symbol':
      return `is a ${typeof item}, which JSON cannot hold`;
    case 'undefined':
      return Array.isArray(holder) ? 'is undefined, which JSON would turn into null' : undefined;
    case 'object':
      if (item === null) return wasDate(holder, key) ? 'is an invalid Date' : undefined;
      if (item instanceof Number) return numberProblem(item.valueOf());
      return isOpaque(item) ? `is a ${item.constructor?.name ?? 'value'}, which JSON would lose` : undefined;
    default:
      return undefined;
  }
}

export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character, which Postgres cannot store';
  return text.isWellFormed() ? undefined : 'holds a lone surrogate, which Postgres cannot store';
}

/**
 * How many bytes longer jsonb spells a number than JSON does: Postgres writes every zero of 1e308 out, so that 256 KiB
 * of such numbers are read back as 12 MB.
 */
export function numeralGrowth(item: unknown): number {
  const spelled = typeof item === 'number' || item instanceof Number ? String(item) : '';
  const [numeral = '', fraction = '', exponentText] =
    /^\d(?:\.(\d+))?e([+-]\d+)$/.exec(spelled.replace(/^-/, '')) ?? [];
  if (exponentText === undefined) return 0;
  const exponent = Number(exponentText);
  const written = exponent > 0 ? exponent + 1 : '0.'.length + fraction.length - exponent;
  return written - numeral.length;
}

function numberProblem(number: number): string | undefined {
  return Number.isFinite(number) ? undefined : `is ${number}, which JSON cannot hold`;
}

/** An invalid Date's `toJSON` is null. */
function wasDate(holder: unknown, key: string): boolean {
  return tagOf(Reflect.get(holder as object, key)) === 'Date';
}

/** Objects that JSON.stringify spells as {} or as numbered keys. */
function isOpaque(item: object): boolean {
  if (item instanceof Error || ArrayBuffer.isView(item)) return true;
  const tag = tagOf(item);
  return LOST.has(tag) || (!SPELLED.has(tag) && Object.keys(item).length === 0);
}

const LOST = new Set(['Arguments', 'Error', 'Map', 'Promise', 'RegExp', 'Set', 'Symbol']);
/** Boxed values are spelled as what is in them. */
const SPELLED = new Set(['Array', 'Boolean', 'Number', 'Object', 'String']);

/** The same in every realm: what a test runner's sandbox makes is no instance of our classes. */
function tagOf(item: unknown): string {
  return Object.prototype.toString.call(item).slice('[object '.length, -1);
}
