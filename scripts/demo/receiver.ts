/**
 * The receiver of the demo's webhooks: verifies each signature as the Standard Webhooks specification has it, fails
 * the first attempts of some events on purpose, and keeps count.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Arrival {
  eventId: string;
  attempt: number;
  /** 200, or 503 where the event was to fail first. */
  status: number;
}

export interface Receiver {
  /** To register as an endpoint, with `secret`. */
  url: string;
  secret: string;
  close: () => Promise<void>;
}

/**
 * @param failuresFor how many attempts of an event are refused, by the event's data
 * @param onArrival called for each request whose signature is right
 * @param onForgery called for each other
 */
export async function startReceiver(
  failuresFor: (data: unknown) => number,
  onArrival: (arrival: Arrival) => void,
  onForgery: (reason: string) => void,
): Promise<Receiver> {
  const key = randomBytes(32);
  // A path of this run: what an earlier run left to deliver may find the port in other hands.
  const path = `/hooks/${randomBytes(8).toString('hex')}`;
  const attempts = new Map<string, number>();

  const answer = (request: IncomingMessage, body: string): number => {
    if (request.url !== path) return 410;
    const eventId = String(request.headers['webhook-id']);
    if (!isSigned(request, body, key)) {
      onForgery(`event ${eventId} arrived with a wrong signature`);
      return 401;
    }
    const attempt = (attempts.get(eventId) ?? 0) + 1;
    attempts.set(eventId, attempt);
    const { data } = JSON.parse(body) as { data: unknown };
    const status = attempt <= failuresFor(data) ? 503 : 200;
    onArrival({ eventId, attempt, status });
    return status;
  };

  const server = createServer((request, response) => {
    void text(request).then((body) => response.writeHead(answer(request, body)).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    secret: `whsec_${key.toString('base64')}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isSigned({ headers }: IncomingMessage, body: string, key: Buffer): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  const found = Buffer.from(String(headers['webhook-signature']));
  return found.length === expected.length && timingSafeEqual(found, expected);
}
