/**
 * The engine's side of its conversation with the Prisma CLI: JSON-RPC 2.0, one object a line, one request at a time.
 */
import { createInterface } from 'node:readline';

/**
 * @typedef {object} Request
 * @property {string | number} id
 * @property {string} [method] missing from the CLI's answers to `print`
 * @property {unknown} [params]
 */

/**
 * Answers requests until the input ends or the signal aborts, the one in flight included.
 *
 * @param {object} options
 * @param {import('node:stream').Readable} options.input
 * @param {AbortSignal} options.signal
 * @param {(text: string) => void} options.write
 * @param {(method: string, params: unknown) => Promise<unknown>} options.call fails with an `EngineError`
 */
export async function serve({ input, signal, write, call }) {
  for await (const line of createInterface({ input, signal, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    /** @type {Request} */
    const { id, method, params } = JSON.parse(line);
    if (method === undefined) continue;
    try {
      const result = await call(method, params);
      // The CLI does not read the output of `diff` from its result: it has to be told to print it.
      const output = /** @type {{ stdout?: string | null } | undefined} */ (result)?.stdout;
      if (method === 'diff' && typeof output === 'string')
        send({ id: `${id}-output`, method: 'print', params: { content: output } });
      send({ id, result: result ?? null });
    } catch (error) {
      send({ id, error: failure(/** @type {import('./engine.mjs').EngineError} */ (error)) });
    }
  }

  /** @param {object} message */
  function send(message) {
    write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

/** @param {import('./engine.mjs').EngineError} error */
function failure({ message, code, isPanic }) {
  return { code: 4466, message, data: { is_panic: isPanic, message, error_code: code ?? null } };
}
