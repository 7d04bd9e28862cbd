/**
 * @mgcrea/prisma-queue 3: a Prisma queue as well. Its loop starts one job every `jobInterval`, of which 10 ms is the
 * least that it takes, and which makes its best about ninety jobs a second; `pollInterval` is at its least as well. Its
 * jobs are part of no transaction of the app's: `enqueue` opens one of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createQueue } from '@mgcrea/prisma-queue';
import { PrismaPg } from '@prisma/adapter-pg';
import { execute } from '../app-row.ts';
import { PRODUCER_CONNECTIONS, type Payload, type Producer, type System } from '../system.ts';
import { QUEUE_JOBS } from './table.ts';

const NAME = 'bench';
const BEST_CONCURRENCY = 10;
const LEAST = { pollInterval: 100, jobInterval: 10 };
const GENERATED = new URL('../../../dist/prisma-queue/client.ts', import.meta.url);
const SCHEMA = fileURLToPath(new URL('./schema.prisma', import.meta.url));
const PRISMA = fileURLToPath(new URL('../../../../../db/engine/prisma.mjs', import.meta.url));

/** What is used here of the client that Prisma generates. */
interface Client {
  readonly queueJob: { findFirst(query: object): Promise<object | null> };
}

export const prismaQueue: System = {
  async install(url) {
    await generate();
    await execute(url, QUEUE_JOBS);
  },

  async openProducer(url): Promise<Producer> {
    const prisma = await openClient(url, PRODUCER_CONNECTIONS);
    const queue = createQueue<Payload, void, Client>({ prisma, name: NAME }, async () => {});
    return {
      async enqueue(payload) {
        await queue.enqueue(payload);
      },
      async enqueueMany(payloads) {
        await queue.enqueueMany([...payloads]);
      },
      async isDrained() {
        return (await prisma.queueJob.findFirst({ where: { queue: NAME, finishedAt: null } })) === null;
      },
    };
  },

  async openWorker(url, { handler, concurrency = BEST_CONCURRENCY }) {
    const prisma = await openClient(url, concurrency);
    const options = { prisma, name: NAME, maxConcurrency: concurrency, ...LEAST };
    const queue = createQueue<Payload, void, Client>(options, async ({ payload }) => handler(payload));
    return {
      async go() {
        void queue.start();
      },
    };
  },
};

async function openClient(url: string, connections: number): Promise<Client> {
  const { PrismaClient } = (await import(GENERATED.href)) as {
    PrismaClient: new (options: { adapter: PrismaPg }) => Client;
  };
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: connections }) });
}

async function generate(): Promise<void> {
  const prisma = spawn(process.execPath, [PRISMA, 'generate', '--schema', SCHEMA], { stdio: 'ignore' });
  const [code] = (await once(prisma, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`prisma generate ended with ${code}`);
}
