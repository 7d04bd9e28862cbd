/**
 * Shadow databases: empty databases beside the real one, in which the engine replays the migrations.
 *
 * One is made for a single connection, and is gone after it, whether the command that wanted it succeeds or fails.
 */
import { randomUUID } from 'node:crypto';
import { connectAdapter } from './adapter.mjs';

export class ShadowDatabases {
  #server;
  /** @type {Set<ShadowDatabase>} */
  #open = new Set();

  /** @param {DatabaseTarget} server where to make them, by a role that may */
  constructor(server) {
    this.#server = server;
  }

  /** Makes one and connects to it. Disposing of the connection drops the database. */
  async connect() {
    const shadow = new ShadowDatabase(this.#server);
    this.#open.add(shadow);
    const adapter = await shadow.connect();
    adapter.dispose = async () => {
      await shadow.drop();
      this.#open.delete(shadow);
    };
    return adapter;
  }

  /** Drops what has not been disposed of. */
  async dropAll() {
    for (const shadow of this.#open) {
      await shadow.drop();
      this.#open.delete(shadow);
    }
  }
}

class ShadowDatabase {
  #server;
  #name = `prisma_migrate_shadow_db_${randomUUID()}`;
  /** @type {() => Promise<void>} */
  #disconnect = async () => {};
  /** @type {Promise<void> | undefined} */
  #dropped;

  /** @param {DatabaseTarget} server */
  constructor(server) {
    this.#server = server;
  }

  async connect() {
    await this.#onServer(`CREATE DATABASE "${this.#name}"`);
    const adapter = await connectAdapter({ ...this.#server, database: this.#name });
    this.#disconnect = adapter.dispose.bind(adapter);
    return adapter;
  }

  /** Closes the connection before it drops the database; once, however often it is called. */
  drop() {
    this.#dropped ??= (async () => {
      await this.#disconnect();
      // FORCE: a command that was cut short leaves its statement running for a while.
      await this.#onServer(`DROP DATABASE IF EXISTS "${this.#name}" WITH (FORCE)`);
    })();
    return this.#dropped;
  }

  /** @param {string} sql a statement that belongs to no database and runs outside any transaction */
  async #onServer(sql) {
    const adapter = await connectAdapter(this.#server);
    try {
      await adapter.executeScript(sql);
    } finally {
      await adapter.dispose();
    }
  }
}

/** @typedef {import('./database-url.mjs').DatabaseTarget} DatabaseTarget */
