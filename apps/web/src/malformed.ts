/** What comes over the wire and is no HTTP request is answered with a problem as well, where it can be answered at all. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import { Problem, PROBLEM_TYPE, problemBody } from './problem.ts';

/** For a request that HTTP allows and no URL can be made of: without a host, with an odd one, `OPTIONS *`. */
export function withoutUrl(error: unknown): Response {
  const problem =
    error instanceof RequestError
      ? new Problem(400, 'INVALID_URL', `Expected a host and a path that make a URL: ${error.message}.`)
      : new Problem(500, 'INTERNAL', 'Something went wrong on the server.');
  return new Response(problemBody(problem), { status: problem.status, headers: PROBLEM_TYPE });
}

/** For what Node could not read: the last answer of its connection. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Into an answer that is under way nothing can be written.
  const { _httpMessage: underWay } = socket as { _httpMessage?: { readonly headersSent: boolean } };
  if (!socket.writable || error.code === 'ECONNRESET' || underWay?.headersSent === true) {
    socket.destroy();
    return;
  }
  const problem =
    PROBLEMS[error.code ?? ''] ?? new Problem(400, 'NOT_HTTP', 'Expected a request of HTTP/1.1.');
  const body = problemBody(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `content-type: ${PROBLEM_TYPE['content-type']}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: new Problem(431, 'HEADERS_TOO_LARGE', 'Expected headers of at most 16 KiB.'),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(
    408,
    'REQUEST_TIMEOUT',
    'Expected the whole request within 30 seconds.',
  ),
};
