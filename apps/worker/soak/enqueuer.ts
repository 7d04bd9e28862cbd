/**
 * The web app of the soak: enqueues inside transactions of its own, each with a row of its own, over a network that
 * fails. It writes into the ledger what it knows of each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { enqueue } from '@fencepost/queue';
import { CONTRACTS, type Behaviour, type SoakPayload } from './contracts.ts';
import type { Fate, Ledger } from './ledger.ts';
import type { Proxy } from './proxy.ts';
import type { Random } from './random.ts';
import { recordOrder } from './store/effects.ts';

const LANES = 6;
/** Between two transactions of a lane. */
const PAUSE_MS = { min: 30, max: 150 };
const MOST_TOGETHER = 8;
/** Enough for every slot of every worker to be taken when a fault strikes, and few enough to catch up with. */
const MOST_UNFINISHED = 100;
const LOOK_MS = 250;
/** Above what Prisma has by default: a restart of the database takes its time. */
const PATIENCE = { maxWait: 5_000, timeout: 10_000 };
const ROLLED_BACK = 0.08;
const ANSWER_LOST = 0.02;

/**
 * How often each behaviour is drawn; a careless one is a fault of the driver's. Many take their time, so that there are
 * runs to lose their claims, and others under way when they come back.
 */
const LOAD: readonly (readonly [Behaviour, number])[] = [
  ['effect', 30],
  ['long', 25],
  ['late', 12],
  ['plain', 10],
  ['throws', 10],
  ['snoozes', 4],
  ['doomed', 4],
  ['discards', 3],
  ['never', 2],
];

class RollBack extends Error {}

export class Enqueuer {
  readonly prisma: PrismaClient;
  readonly #proxy: Proxy;
  readonly #ledger: Ledger;
  readonly #countUnfinished: () => Promise<number>;
  #unfinished = 0;
  #stopped = false;
  #tasks: Promise<void>[] = [];

  /** @param countUnfinished as the database has it, on a way that no fault is on. */
  constructor(proxy: Proxy, ledger: Ledger, countUnfinished: () => Promise<number>) {
    this.#proxy = proxy;
    this.#ledger = ledger;
    this.#countUnfinished = countUnfinished;
    const url = new URL(proxy.url);
    // Seconds. A connection that was being opened when the network stalled is not to be waited for any longer.
    url.searchParams.set('connect_timeout', '2');
    this.prisma = createPrisma(url.href, {
      poolSize: 8,
      queryTimeoutMs: 10_000,
      applicationName: 'soak enqueuer',
    });
  }

  start(random: Random): void {
    this.#tasks = Array.from({ length: LANES }, () => this.#run(random.fork()));
    this.#tasks.push(this.#look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#tasks);
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
  }

  /** Jobs in one transaction. Resolves when it is known, or known to be unknown, what became of it. */
  async enqueueTogether(behaviours: readonly Behaviour[], random: Random): Promise<Fate> {
    const rollBack = random.chance(ROLLED_BACK);
    const loseAnswer = random.chance(ANSWER_LOST);
    const orders = behaviours.map((behaviour) => anyOrder(behaviour, random));
    const enqueued: { readonly id: string; readonly behaviour: Behaviour }[] = [];
    const commit = this.prisma.$transaction(async (tx) => {
      for (const { behaviour, payload, options } of orders) {
        const { id } = await enqueue(tx, CONTRACTS[behaviour], payload, options);
        enqueued.push({ id, behaviour });
        await recordOrder(tx, id);
      }
      if (rollBack) throw new RollBack();
      if (loseAnswer) this.#loseAnswers();
    }, PATIENCE);
    const fate = await commit.then(
      (): Fate => 'committed',
      (error): Fate => (error instanceof RollBack ? 'rolled back' : 'unknown'),
    );
    for (const job of enqueued) this.#ledger.record({ ...job, fate });
    if (enqueued.length === 0) this.#ledger.failures++;
    return fate;
  }

  /** The COMMIT gets through, and what comes back does not. */
  #loseAnswers(): void {
    this.#proxy.loseAnswers();
    setTimeout(() => this.#proxy.cut(), 50);
  }

  async #run(random: Random): Promise<void> {
    while (!this.#stopped) {
      if (this.#unfinished < MOST_UNFINISHED) {
        const behaviours = Array.from({ length: random.whole(1, MOST_TOGETHER) }, () => anyBehaviour(random));
        await this.enqueueTogether(behaviours, random.fork());
      }
      await sleep(random.whole(PAUSE_MS.min, PAUSE_MS.max));
    }
  }

  async #look(): Promise<void> {
    while (!this.#stopped) {
      this.#unfinished = await this.#countUnfinished();
      await sleep(LOOK_MS);
    }
  }
}

function anyBehaviour(random: Random): Behaviour {
  return random.pick(LOAD.flatMap(([behaviour, weight]) => Array.from({ length: weight }, () => behaviour)));
}

function anyOrder(behaviour: Behaviour, random: Random) {
  const options = random.chance(0.2)
    ? { delay: random.whole(100, 2_000) }
    : { priority: random.pick(['urgent', 'high', 'normal', 'normal', 'low'] as const) };
  return { behaviour, payload: payloadFor(behaviour, random), options };
}

function payloadFor(behaviour: Behaviour, random: Random): SoakPayload {
  const turns = random.whole(1, 2);
  switch (behaviour) {
    case 'effect':
      return { ms: random.whole(1, 1_500), turns };
    case 'long':
      return { ms: random.whole(2_000, 4_500), turns };
    case 'computes':
      return { ms: random.whole(200, 1_500), turns: 1 };
    case 'late':
      return { ms: random.whole(600, 1_500), turns };
    case 'careless':
      return { ms: random.whole(1, 300), turns: 1 };
    case 'plain':
    case 'throws':
    case 'never':
    case 'snoozes':
    case 'doomed':
    case 'discards':
      return { ms: random.whole(1, 400), turns };
  }
}
