/** One POST to one receiver: bounded in time and in what is read of the answer. */
import { request, type Dispatcher } from 'undici';
import { DeliveryFailedError } from './errors.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** From the lookup to the answer's headers. Below the job's timeout, so that the error is ours and says what happened. */
const ANSWER_TIMEOUT_MS = 15_000;

/** What is read and thrown away of an answer's body, so that its connection can be used again. */
const DISCARD = { limit: 64 * 1024, ms: 1_000 };

export interface Answer {
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Redirects are answers like any other: the signed body goes to the registered URL and nowhere else.
 *
 * @throws DeliveryFailedError if no answer came; the signal's reason if it aborted before that.
 */
export async function postWebhook(
  agent: Dispatcher,
  url: string,
  { headers, body }: WebhookMessage,
  signal: AbortSignal,
): Promise<Answer> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    const answer = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
      signal: AbortSignal.any([signal, timeout]),
    });
    const durationMs = Math.round(performance.now() - started);
    await discard(answer.body);
    return { status: answer.statusCode, durationMs };
  } catch (cause) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new DeliveryFailedError(`no answer within ${ANSWER_TIMEOUT_MS} ms`, { cause });
    throw new DeliveryFailedError(`not reached: ${describe(cause)}`, { cause });
  }
}

/** The status has come: whatever becomes of the body changes nothing. */
async function discard(body: Dispatcher.ResponseData['body']): Promise<void> {
  await body.dump({ limit: DISCARD.limit, signal: AbortSignal.timeout(DISCARD.ms) }).catch(() => undefined);
}

/** A name with several addresses, none of which could be connected to, fails with an error that has no message. */
function describe(cause: unknown): string {
  const { message, code } = cause as NodeJS.ErrnoException;
  return message || code || String(cause);
}
