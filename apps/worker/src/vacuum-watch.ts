/**
 * Names what holds back vacuum. While a transaction stays open, the entries of jobs that pass stay in the indexes, and
 * table and looks grow with each of them; nobody sees from the queue alone why.
 */
import type { Logger, QueueClient } from '@fencepost/queue';
import { findVacuumHolder, type VacuumHolder } from '@fencepost/queue/protocol';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { Metrics } from './metrics.ts';

/**
 * Longer than any transaction of the queue's, and than one of an app has any reason to be; soon enough that there are no
 * more than some ten thousand entries where a hundred jobs pass a second.
 */
const TELL_AFTER_MS = 300_000;

export interface VacuumWatchOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly database: DatabaseWatch;
  readonly metrics: Metrics;
}

export class VacuumWatch {
  readonly #options: VacuumWatchOptions;
  #holder: { readonly key: string; readonly seenAt: number } | undefined;
  #told: { readonly key: string; readonly heldMs: number } | undefined;

  constructor(options: VacuumWatchOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { client, database, metrics } = this.#options;
    const holder = await database.run('vacuum_holder', () => findVacuumHolder(client));
    const heldMs = this.#heldMs(holder);
    metrics.vacuumHeldBack.set(heldMs / 1_000);
    if (holder !== undefined && heldMs >= TELL_AFTER_MS) this.#tell(holder, heldMs);
    else this.#over();
  }

  /** As the database tells it, or as seen from here where it does not tell. */
  #heldMs(holder: VacuumHolder | undefined): number {
    const now = this.#options.clock.now();
    if (holder === undefined) {
      this.#holder = undefined;
      return 0;
    }
    const key = `${keyOf(holder)} ${holder.xmin}`;
    if (this.#holder?.key !== key) this.#holder = { key, seenAt: now };
    return Math.max(holder.openMs ?? 0, now - this.#holder.seenAt);
  }

  /** At 5 minutes, 10, 20 …: each time it matters twice as much. */
  #tell(holder: VacuumHolder, heldMs: number): void {
    const key = keyOf(holder);
    if (this.#told?.key === key && heldMs < 2 * this.#told.heldMs) return;
    this.#told = { key, heldMs };
    const { kind, name, pid, user, state } = holder;
    this.#options.logger.warn(
      { kind, name, pid, user, state, heldForMs: Math.round(heldMs), remedy: remedyFor(holder) },
      'vacuum is held back: entries of jobs that have passed stay in the indexes',
    );
  }

  #over(): void {
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.#options.logger.info({}, 'vacuum is held back no longer');
  }
}

function keyOf({ kind, name, pid }: VacuumHolder): string {
  return `${kind} ${name} ${pid}`;
}

function remedyFor({ kind, name, pid }: VacuumHolder): string {
  const quoted = `'${name.replaceAll("'", "''")}'`;
  switch (kind) {
    case 'session':
      return `commit it, or end it: SELECT pg_terminate_backend(${pid})`;
    case 'standby':
      return 'end the long query on the standby, or set hot_standby_feedback = off there';
    case 'prepared_transaction':
      return `COMMIT PREPARED ${quoted}, or ROLLBACK PREPARED ${quoted}`;
    case 'replication_slot':
      return `bring its standby back, or drop the slot: SELECT pg_drop_replication_slot(${quoted})`;
  }
}
