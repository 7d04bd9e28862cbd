/** Runs of the handlers by the production executor, one at a time and in the test's hands. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import type { JobHandler, Logger, QueueClient } from '@fencepost/queue';
import {
  claimJobs,
  Deadlines,
  decide,
  settleRuns,
  startRun,
  type ClaimedJob,
  type Outcome,
  type StartedRun as Started,
} from '@fencepost/queue/protocol';
import { createTestDatabase } from '@fencepost/testing';
import { afterAll } from 'vitest';
import { createHandlers } from '../../src/handlers/index.ts';

export async function openDatabase(): Promise<PrismaClient> {
  const prisma = createPrisma((await createTestDatabase()).url);
  afterAll(() => prisma.$disconnect());
  return prisma;
}

export function handlersFor(
  prisma: PrismaClient,
  { allowPrivateWebhooks = true } = {},
): readonly JobHandler[] {
  return createHandlers({ prisma, config: { allowPrivateWebhooks } });
}

export interface StartedRun extends Pick<Started, 'outcome' | 'returned' | 'stop'> {
  /** Waits for the outcome and settles it, as a worker does. */
  settle(): Promise<Outcome>;
}

export interface RunOptions {
  readonly draining?: AbortSignal;
  /** What the run's own writes (progress) go through. */
  readonly client?: QueueClient;
  readonly keepCompleted?: boolean;
}

/** Claims the one job that is due and starts it. */
export async function startJob(
  prisma: PrismaClient,
  handlers: readonly JobHandler[],
  { draining = new AbortController().signal, client = prisma, keepCompleted = true }: RunOptions = {},
): Promise<StartedRun> {
  const job = await claimOne(prisma, handlers);
  const handler = handlers.find(({ contract }) => contract.type === job.type);
  if (!handler) throw new Error(`no handler for ${job.type}`);
  const environment = {
    ...{ client, timers, draining, keepCompleted },
    logger: silent,
    deadlines: new Deadlines(timers),
    onFenced: () => undefined,
  };
  const run = startRun(job, handler, environment);
  return {
    outcome: run.outcome,
    returned: run.returned,
    stop: (reason) => run.stop(reason),
    async settle() {
      const outcome = await run.outcome;
      const settled = { ...job, settlement: decide(outcome, job), completing: run.completing() };
      await settleRuns(prisma, [settled], { keepCompleted });
      return outcome;
    },
  };
}

export async function runJob(
  prisma: PrismaClient,
  handlers: readonly JobHandler[],
  options: RunOptions = {},
) {
  const run = await startJob(prisma, handlers, options);
  return run.settle();
}

async function claimOne(prisma: PrismaClient, handlers: readonly JobHandler[]): Promise<ClaimedJob> {
  const wanted = handlers.map(({ contract }) => ({ ...contract, slots: 1 }));
  const [job] = await claimJobs(prisma, { workerId: 'test', wanted, capacity: 1 });
  if (!job) throw new Error('nothing is due');
  return job;
}

/** As if the job's delay were over. */
export async function makeDue(prisma: PrismaClient, id: string): Promise<void> {
  await prisma.$executeRaw`UPDATE job_queue SET "runAt" = now() WHERE id = ${id}::uuid`;
}

/** As if the job's worker had been gone for a minute. */
export async function expireLease(prisma: PrismaClient, id: string): Promise<void> {
  await prisma.$executeRaw`UPDATE job_queue SET "lockUntil" = now() - interval '1 minute' WHERE id = ${id}::uuid`;
}

const silent: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silent,
};

const timers = {
  now: () => performance.now(),
  after(ms: number, task: () => void) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
