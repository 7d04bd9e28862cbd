/** What every measurement works with: fresh stores, and processes in which a system runs on one. */
import { startChild, type Child, type Code } from './child/spawn.ts';
import type { ChildCalls } from './child/calls.ts';
import { startPostgres, type BenchPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Contestant } from './systems/index.ts';

/** One system on a store of its own. */
export interface Arena {
  readonly url: string;
  start<Role extends keyof ChildCalls>(role: Role): Promise<Child<Role>>;
  /** Before the clock starts, once the store is filled. */
  settle(): Promise<void>;
}

export interface BenchOptions {
  /** Jobs of a drain; the other measurements have their size from it. */
  readonly jobs: number;
  readonly probes: number;
  readonly code: Code;
}

export class Bench {
  readonly options: BenchOptions;
  readonly postgres: BenchPostgres;
  /** Jobs per second that each system has drained so far, by its name. */
  readonly drained = new Map<string, number[]>();

  constructor(options: BenchOptions, postgres: BenchPostgres) {
    this.options = options;
    this.postgres = postgres;
  }

  static async open(options: BenchOptions): Promise<Bench> {
    return new Bench(options, await startPostgres());
  }

  /** Nothing of what `use` has started outlives it. */
  async inArena<T>(contestant: Contestant, use: (arena: Arena) => Promise<T>): Promise<T> {
    const store = await this.#openStore(contestant);
    const children: { end(): Promise<void> }[] = [];
    try {
      return await use({
        url: store.url,
        settle: store.settle,
        start: async (role) => {
          const options = { system: contestant.name, url: store.url, code: this.options.code };
          const child = await startChild(role, options);
          children.push(child);
          return child;
        },
      });
    } finally {
      for (const child of children) await child.end();
      await store.close();
    }
  }

  async close(): Promise<void> {
    await this.postgres.stop();
  }

  async #openStore(contestant: Contestant) {
    if (contestant.store !== 'postgres') {
      const redis = await startRedis(contestant.store === 'redis always' ? 'always' : 'everysec');
      return { url: redis.url, settle: async () => {}, close: redis.stop };
    }
    const system = contestant.name.split(':')[0] ?? contestant.name;
    const { url, settle, drop } = await this.postgres.openDatabase(system, async (empty) => {
      const child = await startChild('producer', { system, url: empty, code: this.options.code });
      try {
        await child.call('install', {});
      } finally {
        await child.end();
      }
    });
    return { url, settle, close: drop };
  }
}
