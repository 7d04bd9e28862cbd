/** What an error answer says: RFC 9457, `application/problem+json`, for every status from 400 up. */
import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** One thing that is wrong with a request, and where: in the body (JSON pointer), the query or a header. */
export interface RequestFault {
  readonly detail: string;
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
}

export interface ProblemOptions {
  readonly errors?: readonly RequestFault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Members beside the standard ones. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Thrown by routes and middleware. `code` is stable, to be matched on instead of the detail. */
export class Problem extends Error {
  readonly status: ContentfulStatusCode;
  readonly code: string;
  readonly options: ProblemOptions;
  override readonly name = 'Problem';

  constructor(status: ContentfulStatusCode, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.options = options;
  }
}

export function notFound(what: string): Problem {
  return new Problem(404, 'NOT_FOUND', `There is no ${what}.`);
}

/** Not now; the caller is told when to come back. */
export function tryAgain(code: string, detail: string): Problem {
  return new Problem(503, code, detail, { headers: { 'retry-after': '1' } });
}

export function problemResponse(c: Context, problem: Problem): Response {
  return c.body(problemBody(problem), problem.status, { ...problem.options.headers, ...PROBLEM_TYPE });
}

export const PROBLEM_TYPE = { 'content-type': 'application/problem+json' } as const;

export function problemBody({ status, code, message, options }: Problem): string {
  const { errors, extra } = options;
  return JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    code,
    detail: message,
    ...(errors ? { errors } : {}),
    ...extra,
  });
}
