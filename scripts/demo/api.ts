/** The web app's HTTP API, as far as the demo uses it. */
import { randomUUID } from 'node:crypto';
import { DemoError } from './demo-error.ts';

export interface AcceptedEvent {
  id: string;
  jobIds: string[];
}

export interface JobView {
  id: string;
  state: string;
  attempts: number;
}

export class Api {
  readonly #origin: string;
  readonly #token: string | undefined;

  constructor(origin: string, token: string | undefined) {
    this.#origin = origin;
    this.#token = token;
  }

  async registerEndpoint(endpoint: { url: string; secret: string; eventTypes: string[] }): Promise<void> {
    await this.#request('POST', '/api/endpoints', endpoint);
  }

  /** Stores the event and enqueues its deliveries, in one transaction. */
  emit(event: { type: string; payload: Record<string, unknown> }): Promise<AcceptedEvent> {
    return this.#request<AcceptedEvent>('POST', '/api/events', event);
  }

  job(id: string): Promise<JobView> {
    return this.#request<JobView>('GET', `/api/jobs/${id}`);
  }

  async #request<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.#origin}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new DemoError(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }
}
