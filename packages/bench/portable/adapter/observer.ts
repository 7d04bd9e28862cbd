/** Looks at the backlog now and then: one statement for all of the logical queues. */
import type { PrismaClient } from '@fencepost/db';
import { readBacklog } from '@fencepost/queue';
import { rest } from './rest.ts';
import type { Tally } from './tally.ts';

/** A look reads every pending job. With many of them, it is to take no more than a twentieth of the time. */
const SHARE = 20;
const PAUSE_MS = { least: 250, most: 2_000 };

export class Observer {
  /** Due and not claimed, as of the last look. */
  due = 0;
  /** Pending for later: herd jobs, and failed ones that will be tried again. */
  scheduled = 0;
  readonly #client: PrismaClient;
  readonly #tally: Tally;
  #lastLook = { enqueued: 0, started: 0 };

  constructor(client: PrismaClient, tally: Tally) {
    this.#client = client;
    this.#tally = tally;
  }

  /** Until `signal` aborts. */
  async watch(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      const startedAt = performance.now();
      await this.#look().catch(failed);
      const tookMs = performance.now() - startedAt;
      await rest(Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, SHARE * tookMs)), signal);
    }
  }

  /** As of this moment, by what this replica has enqueued and begun since the last look; of others, the next one tells. */
  estimatedDepth(): number {
    const { enqueued, started } = this.#tally;
    return this.due + (enqueued - this.#lastLook.enqueued) - (started - this.#lastLook.started);
  }

  async #look(): Promise<void> {
    const { enqueued, started } = this.#tally;
    const backlog = await readBacklog(this.#client);
    this.due = backlog.reduce((sum, { due }) => sum + due, 0);
    this.scheduled = backlog.reduce((sum, { scheduled }) => sum + scheduled, 0);
    this.#lastLook = { enqueued, started };
  }
}
