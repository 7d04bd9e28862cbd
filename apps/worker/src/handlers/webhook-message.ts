/**
 * A webhook as it goes over the wire, after the Standard Webhooks specification: the body's fields, the three headers
 * `webhook-id`, `webhook-timestamp`, `webhook-signature`, and beside them what lets a receiver act once and refuse a
 * run that has been overtaken.
 */
import { createHmac } from 'node:crypto';

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly createdAt: Date;
}

export interface Attempt {
  /** HMAC key of the endpoint. */
  readonly key: Buffer;
  /** When this attempt began: receivers refuse what is signed with a time long past. */
  readonly at: Date;
  readonly jobId: string;
  readonly fence: number;
}

export interface WebhookMessage {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The same body, byte by byte, at every attempt; a new timestamp and signature at each. */
export function webhookMessage(event: WebhookEvent, { key, at, jobId, fence }: Attempt): WebhookMessage {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const body = JSON.stringify({ type: event.type, timestamp: event.createdAt, data: event.payload });
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Fencepost',
      // The same for every endpoint that the event is told to, and at every attempt.
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
      'idempotency-key': jobId,
      // Grows with every claim of the job: a receiver that has seen a greater one can refuse this.
      'fencepost-fence': String(fence),
    },
  };
}
