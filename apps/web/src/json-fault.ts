/** What JSON text can spell and jsonb cannot hold, or would change. */

/** Postgres and most readers take some thousands of levels; people need a few. */
const MAX_DEPTH = 100;

export interface JsonFault {
  readonly message: string;
  readonly path: PropertyKey[];
}

/** The first fault of a parsed JSON value, and where it is. */
export function jsonFault(value: unknown): JsonFault | undefined {
  return faultAt(value, [], false);
}

function faultAt(value: unknown, path: PropertyKey[], belowConstructor: boolean): JsonFault | undefined {
  if (typeof value === 'string') return textFault(value, path);
  if (typeof value === 'number' && !Number.isFinite(value)) return { message: 'Is too great a number', path };
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length >= MAX_DEPTH) return { message: `Is nested deeper than ${MAX_DEPTH} levels`, path: [] };
  const tag = Object.hasOwn(value, '$type') ? (value as { readonly $type: unknown }).$type : undefined;
  // Prisma marks its own values by "$type". It knows other people's from them, but not an empty one, and not where a
  // key "constructor" above makes it take an object for none of JSON's: it would wrap what is in there.
  if (tag === '') return { message: 'Has an empty "$type", which cannot be stored', path };
  if (tag !== undefined && belowConstructor)
    return { message: 'Has a key "$type" below a key "constructor", which would be changed', path };
  const hasConstructor = belowConstructor || (!Array.isArray(value) && Object.hasOwn(value, 'constructor'));
  for (const [key, item] of Object.entries(value)) {
    const fault = keyFault(key, path) ?? faultAt(item, [...path, key], hasConstructor);
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
