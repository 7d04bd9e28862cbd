/**
 * Wake-ups: one connection of its own that listens to the channel `job_queue`. An empty payload says that something is
 * due, `cancel` that somebody asked for a cancellation. What was missed while the connection was away is made up for by
 * looking once after each connect. Prisma has no LISTEN, so that this is `pg`.
 */
import type { Logger } from '@fencepost/queue';
import { databaseFault } from '@fencepost/service';
import type pg from 'pg';
import { createBackoff } from './backoff.ts';
import { timely, within, type Clock } from './clock.ts';
import { Doorbell } from './doorbell.ts';
import { SparseLines } from './sparse-lines.ts';

export interface WakeOptions {
  /** A new client, unconnected. */
  connect(onError: (error: Error) => void): pg.Client;
  readonly clock: Clock;
  readonly logger: Logger;
  onDue(): void;
  onCancel(): void;
  /** After each connect: look at everything. */
  onListening(): void;
  /** The connection is lost: from now on only the poll sees what is due. */
  onSilence(): void;
}

/** A connection that lasted so long was a good one: what comes after it is a new fault. */
const GOOD_AFTER_MS = 10_000;

/** A connection that a network has swallowed says nothing; asked, it still says nothing, and is replaced. */
const CONNECT_MS = 10_000;
const HEARTBEAT_MS = 15_000;
const ANSWER_MS = 5_000;

export class Wake {
  readonly #options: WakeOptions;
  #client: pg.Client | undefined;
  #stopped = false;
  readonly #stopBell = new Doorbell();
  #finished: Promise<void> = Promise.resolve();

  constructor(options: WakeOptions) {
    this.#options = options;
  }

  get listening(): boolean {
    return this.#client !== undefined;
  }

  start(): void {
    this.#finished = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopBell.ring();
    await this.#finished;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const backoff = createBackoff({ firstMs: 250, maxMs: 10_000 });
    const losses = new SparseLines(clock);
    while (!this.#stopped) {
      let listeningSince = Number.POSITIVE_INFINITY;
      try {
        await this.#listen(() => (listeningSince = clock.now()));
      } catch (error) {
        if (!this.#stopped) this.#lost(error, losses);
      }
      if (clock.now() - listeningSince > GOOD_AFTER_MS) backoff.reset();
      await this.#stopBell.wait(clock, backoff.next());
    }
  }

  /** Listens until the connection is lost, which throws, or until stopped. */
  async #listen(connected: () => void): Promise<void> {
    const { connect, clock, logger, onListening, onSilence } = this.#options;
    let lose: (error: Error) => void = () => {};
    const lost = new Promise<never>((_resolve, reject) => {
      lose = reject;
    });
    const client = connect((error) => lose(error));
    client.on('end', () => lose(new Error('the connection ended')));
    // Raced below; before that, and after a stop, nobody waits for it.
    lost.catch(() => {});
    client.on('notification', ({ payload }) => this.#heard(payload));
    try {
      await Promise.race([timely(clock, CONNECT_MS, client.connect()), lost]);
      await Promise.race([timely(clock, ANSWER_MS, client.query('LISTEN job_queue')), lost]);
      this.#client = client;
      connected();
      logger.info({}, 'listening for wake-ups');
      onListening();
      await Promise.race([lost, this.#heartbeat(client)]);
    } finally {
      const wasListening = this.#client === client;
      this.#client = undefined;
      if (wasListening) onSilence();
      await within(clock, ANSWER_MS, client.end());
    }
  }

  #lost(error: unknown, losses: SparseLines): void {
    const { name: fault, meaning } = databaseFault(error) ?? {};
    const times = losses.next(String(fault));
    if (times === undefined) return;
    this.#options.logger.warn(
      { err: error, fault, meaning, times },
      'wake-ups lost, polling until they are back',
    );
  }

  #heard(payload: string | undefined): void {
    if (payload === 'cancel') this.#options.onCancel();
    else this.#options.onDue();
  }

  /** Returns when stopped. */
  async #heartbeat(client: pg.Client): Promise<void> {
    const { clock } = this.#options;
    while (!(await this.#stopBell.wait(clock, HEARTBEAT_MS))) {
      if (this.#client !== client) return;
      await timely(clock, ANSWER_MS, client.query('SELECT 1'));
    }
  }
}
