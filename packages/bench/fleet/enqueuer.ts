/** The web app of the fleet: one enqueue after the other, each a transaction of its own, at a fixed rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { msOf, wait } from './contracts.ts';

const POOL = 10;
const TENANTS = 100;
const TICK_MS = 5;

export class Enqueuer {
  readonly #prisma: PrismaClient;
  readonly #underWay = new Set<Promise<void>>();
  #enqueued = 0;
  /** Milliseconds from call to commit, of each enqueue since `forget`. */
  #took: number[] = [];

  constructor(url: string) {
    this.#prisma = createPrisma(url, { applicationName: 'fleet enqueuer', poolSize: POOL });
  }

  /** Jobs a second, for so many seconds. A loop that comes round late offers more, so that the rate is kept. */
  async offer(rate: number, seconds: number): Promise<void> {
    const startedAt = performance.now();
    let offered = 0;
    for (;;) {
      const elapsed = Math.min(seconds, (performance.now() - startedAt) / 1_000);
      for (; offered < Math.floor(rate * elapsed); offered++) this.#enqueue(msOf(this.#enqueued++));
      if (elapsed === seconds) break;
      await sleep(TICK_MS);
    }
    await Promise.all(this.#underWay);
  }

  /** One job that is over at once. */
  async one(): Promise<void> {
    this.#enqueue(1);
    await Promise.all(this.#underWay);
  }

  forget(): void {
    this.#took = [];
  }

  took(): readonly number[] {
    return this.#took;
  }

  async close(): Promise<void> {
    await this.#prisma.$disconnect();
  }

  #enqueue(ms: number): void {
    const startedAt = performance.now();
    const tenant = `tenant-${this.#enqueued % TENANTS}`;
    const done = enqueue(this.#prisma, wait, { ms, tenant })
      .then(() => void this.#took.push(performance.now() - startedAt))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }
}
