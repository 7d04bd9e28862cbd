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
  const parsed = schema.safeParse(parseJson(await c.req.text()));
  if (parsed.success) return parsed.data;
  const errors = faults(parsed.error, (path) => ({
    pointer: path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
  }));
  throw new Problem(422, 'INVALID_REQUEST', 'The body is not what this route takes.', { errors });
}

/** @throws Problem 400 */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(c.req.query());
  if (parsed.success) return parsed.data;
  const errors = faults(parsed.error, ([parameter]) => ({ parameter: String(parameter ?? '') }));
  throw new Problem(400, 'INVALID_QUERY', 'The query is not what this route takes.', { errors });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem(400, 'INVALID_JSON', `The body is no JSON: ${(error as Error).message}.`);
  }
}

function faults(
  error: z.ZodError,
  where: (path: readonly PropertyKey[]) => Partial<RequestFault>,
): RequestFault[] {
  return error.issues.map((issue) => ({ ...where(issue.path), detail: issue.message }));
}
