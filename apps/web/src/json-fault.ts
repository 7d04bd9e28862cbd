/** What JSON text can spell and jsonb cannot hold, or would change. */

/** Postgres and most readers take some thousands of levels; people need a few. */
const MAX_DEPTH = 100;

export interface JsonFault {
  readonly message: string;
  readonly path: PropertyKey[];
}

/** The first fault of a parsed JSON value, and where it is. */
export function jsonFault(value: unknown, path: PropertyKey[] = []): JsonFault | undefined {
  if (typeof value === 'string') return textFault(value, path);
  if (typeof value === 'number' && !Number.isFinite(value)) return { message: 'Is too great a number', path };
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length >= MAX_DEPTH) return { message: `Is nested deeper than ${MAX_DEPTH} levels`, path: [] };
  for (const [key, item] of Object.entries(value)) {
    const fault = keyFault(key, path) ?? jsonFault(item, [...path, key]);
    if (fault) return fault;
  }
  return undefined;
}

function keyFault(key: string, path: PropertyKey[]): JsonFault | undefined {
  // Whoever copies an object key by key loses it; Prisma does.
  return key === '__proto__'
    ? { message: 'Has a key "__proto__", which would be lost', path }
    : textFault(key, path);
}

function textFault(text: string, path: PropertyKey[]): JsonFault | undefined {
  if (text.includes('\0')) return { message: 'Holds a NUL character, which Postgres cannot store', path };
  return text.isWellFormed()
    ? undefined
    : { message: 'Holds a lone surrogate, which Postgres cannot store', path };
}
