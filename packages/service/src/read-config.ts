/**
 * Reads settings from an environment. A wrong or missing one gets a line that says which, what was found and what is
 * expected; all of them are told at once. What a secret was found to be is not told.
 */
import { redactUrl } from '@fencepost/db';
import { z } from 'zod';

export class ConfigError extends Error {
  readonly code = 'INVALID_CONFIG';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * @param schema one key a setting, made with the functions of settings.ts: the error message of each is what is expected.
 * @throws ConfigError with a line for each setting that is wrong or missing.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    // `NAME=` in an env file means that it is not set.
    const text = env[name]?.trim();
    if (text) given[name] = text;
  }
  const result = schema.safeParse(given);
  if (result.success) return result.data;

  const expected = new Map(result.error.issues.map((issue) => [String(issue.path[0]), issue.message]));
  throw new ConfigError(
    [...expected].map(
      ([name, message]) => `${name}: expected ${message}, found ${found(schema, name, given[name])}`,
    ),
  );
}

function found(schema: z.ZodObject, name: string, text: string | undefined): string {
  if (text === undefined) return 'nothing';
  const { secret, url } = metaOf(schema.shape[name]);
  if (secret) return `${text.length} characters that are not shown`;
  return quoted(cut(url ? redactUrl(text) : text));
}

/** On one line for everybody: JSON leaves two kinds of line ends as they are. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Enough to know it again. */
function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Optional settings and those with a default are wrapped, and what is said of them is said of what is inside. */
function metaOf(type: unknown): z.core.GlobalMeta {
  const isWrapped = type instanceof z.ZodOptional || type instanceof z.ZodDefault;
  return { ...(type instanceof z.ZodType && type.meta()), ...(isWrapped && metaOf(type.unwrap())) };
}
