/**
 * A connection of a pool, which gives itself up when what it was started with may be what is wrong. A session keeps the
 * settings of its start: after a failover, or when a setting has been taken back, one that is read-only would stay so,
 * and be handed out for as long as anything goes through it.
 */
import { UtcClient } from '../engine/session.mjs';
import type { SessionConfig } from '../engine/session.mjs';

/** Read-only, and cancelled by a timeout. */
const MAY_BE_ITS_SETTINGS = new Set(['25006', '57014']);
const NO_TRANSACTION = 'I';

export class PooledClient extends UtcClient {
  constructor(config?: SessionConfig) {
    super(config);
    let isSuspect = false;
    let status: string | undefined;
    this.connection.on('errorMessage', ({ code }) => {
      isSuspect ||= MAY_BE_ITS_SETTINGS.has(code ?? '');
    });
    this.connection.on('readyForQuery', (ready) => {
      status = ready.status;
    });
    // Every query has been answered. The pool keeps no client that has ended itself.
    this.on('drain', () => {
      if (isSuspect && status === NO_TRANSACTION) void this.end();
    });
  }
}
