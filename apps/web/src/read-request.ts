/** Bodies and queries through zod, and what is wrong with them as problems that say where. */
import type { Context } from 'hono';
import type { z } from 'zod';
import { Problem, type RequestFault } from './problem.ts';

/** @throws Problem 415, 400 or 422 */
export async function readBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  const contentType = c.req.header('content-type') ?? '';
  if (!/^application\/([\w.-]+\+)?json *(;|$)/i.test(contentType)) {
    const found = contentType === '' ? 'none' : `"${contentType}"`;
    throw new Problem(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      `Expected the content type application/json, found ${found}.`,
    );
  }
  const parsed = schema.safeParse(parseJson(await readText(c)));
  if (parsed.success) return parsed.data;
  const errors = faults(parsed.error, (path) => ({
    pointer: path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
  }));
  throw new Problem(422, 'INVALID_REQUEST', 'The body is not what this route takes.', { errors });
}

/** @throws Problem 400 */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(queryOf(c));
  if (parsed.success) return parsed.data;
  const errors = faults(parsed.error, ([parameter]) => ({ parameter: String(parameter ?? '') }));
  throw new Problem(400, 'INVALID_QUERY', 'The query is not what this route takes.', { errors });
}

/** A parameter that is there twice is a list, which no route takes: which of the two is meant is not ours to say. */
function queryOf(c: Context): Record<string, string | string[]> {
  const { searchParams } = new URL(c.req.url);
  const names = new Set(searchParams.keys());
  const valuesOf = (name: string) => searchParams.getAll(name);
  return Object.fromEntries(
    [...names].map((name) => [name, valuesOf(name).length > 1 ? valuesOf(name) : (valuesOf(name)[0] ?? '')]),
  );
}

/** Bytes that are no UTF-8 would be replaced without a word. */
async function readText(c: Context): Promise<string> {
  const body = await c.req.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new Problem(400, 'INVALID_JSON', 'The body is no JSON: it is not written in UTF-8.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Without the piece of the body that some of these messages quote: it may be of a secret.
    const fault = (error as Error).message.replace(/, (\.\.\.)?".*/s, '');
    throw new Problem(400, 'INVALID_JSON', `The body is no JSON: ${fault}.`);
  }
}

/** What is told of a request is bounded, whatever the request is made of. */
const MAX_FAULTS = 20;
const MAX_DETAIL_CHARACTERS = 500;

function faults(
  error: z.ZodError,
  where: (path: readonly PropertyKey[]) => Partial<RequestFault>,
): RequestFault[] {
  return error.issues
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ ...where(path), detail: message.slice(0, MAX_DETAIL_CHARACTERS) }));
}
