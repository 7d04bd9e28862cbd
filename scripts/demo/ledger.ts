/** Follows each event from its acceptance over every claim and attempt to its delivery, and shows the way. */
import type { AcceptedEvent } from './api.ts';
import type { Arrival } from './receiver.ts';
import { showStep, spread } from './report.ts';

export interface TrackedEvent {
  id: string;
  type: string;
  jobId: string;
  attempts: number;
  deliveries: number;
}

export interface Claim {
  jobId: string;
  attempt: number;
  /** Between the time the job was due and its claim, by the database's clock. */
  waitedMs: number;
}

export class Ledger {
  readonly #byId = new Map<string, TrackedEvent>();
  /** What was heard of an event before the answer to its POST was: the worker is that quick. */
  readonly #early = new Map<string, ((event: TrackedEvent) => void)[]>();
  readonly #pickUps: number[] = [];

  accepted(type: string, { id, jobIds: [jobId = ''] }: AcceptedEvent): void {
    const event = { id, type, jobId, attempts: 0, deliveries: 0 };
    this.#byId.set(id, event).set(jobId, event);
    showStep('accepted', event, 'stored, and its delivery enqueued, in one transaction');
    for (const key of [id, jobId]) {
      for (const tell of this.#early.get(key) ?? []) tell(event);
      this.#early.delete(key);
    }
  }

  claimed({ jobId, attempt, waitedMs }: Claim): void {
    this.#tell(jobId, (event) => {
      if (attempt === 1) this.#pickUps.push(waitedMs);
      showStep('claimed', event, `attempt ${attempt}, ${Math.round(waitedMs)} ms after it was due`);
    });
  }

  arrived({ eventId, attempt, status }: Arrival): void {
    this.#tell(eventId, (event) => {
      event.attempts = attempt;
      if (status === 200) event.deliveries += 1;
      const detail = `attempt ${attempt} answered ${status}${status === 200 ? '' : ' on purpose, to be tried again'}`;
      showStep(status === 200 ? 'delivered' : 'refused', event, detail);
    });
  }

  events(): TrackedEvent[] {
    return [...new Set(this.#byId.values())];
  }

  summary(): string[] {
    const events = this.events();
    const delivered = events.filter(({ deliveries }) => deliveries > 0);
    const retried = delivered.filter(({ attempts }) => attempts > 1);
    const repeated = delivered.filter(({ deliveries }) => deliveries > 1);
    return [
      `${events.length} events accepted, ${delivered.length} delivered, ${retried.length} of them after retries`,
      `${repeated.length || 'none'} delivered more than once`,
      `from due to claimed: ${spread(this.#pickUps)}`,
    ];
  }

  /** At once, or as soon as the event is known. One of an earlier run never is. */
  #tell(key: string, tell: (event: TrackedEvent) => void): void {
    const event = this.#byId.get(key);
    if (event) tell(event);
    else this.#early.set(key, [...(this.#early.get(key) ?? []), tell]);
  }
}
