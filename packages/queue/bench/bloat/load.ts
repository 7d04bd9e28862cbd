/** The life of jobs, through the statements that web apps and workers send: enqueue, claim, complete, delete. */
import type { createPrisma } from '@fencepost/db';
import { z } from 'zod';
import { enqueueMany } from '../../src/enqueue.ts';
import { defineJob } from '../../src/job.ts';
import { claimJobs, deleteFinished, type ClaimRequest } from '../../src/protocol.ts';
import { complete, settleAll, wantedOf } from '../../test/fixtures/jobs.ts';

const BATCH = 500;
/** As many processes as have a statement in flight. */
const LANES = 2;

const contracts = ['email.welcome', 'invoice.send', 'report.build', 'webhook.deliver'].map((type) =>
  defineJob({ type, payload: z.unknown() }),
);

/** Some two hundred bytes, as payloads often are. */
const payload = { to: 'somebody@example.com', template: 'welcome', locale: 'en', note: 'x'.repeat(120) };

export interface Worked {
  readonly jobs: number;
  readonly seconds: number;
  /** What each claim took, in ms. */
  readonly claims: readonly number[];
}

export function together(parts: readonly Worked[]): Worked {
  return {
    jobs: parts.reduce((sum, { jobs }) => sum + jobs, 0),
    seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
    claims: parts.flatMap(({ claims }) => claims),
  };
}

export class Load {
  readonly request: ClaimRequest = {
    workerId: 'bench',
    wanted: contracts.map((contract) => wantedOf(contract, BATCH)),
    capacity: BATCH,
  };
  completed = 0;
  #enqueued = 0;
  #deleted = 0;
  readonly #prisma: ReturnType<typeof createPrisma>;
  readonly #kept: number;

  /** @param options.kept the newest finished jobs stay */
  constructor(prisma: ReturnType<typeof createPrisma>, { kept }: { kept: number }) {
    this.#prisma = prisma;
    this.#kept = kept;
  }

  /** A backlog, and finished jobs from before: as many as will be kept, so that the table has its size from the start. */
  async fill(backlog: number): Promise<void> {
    await this.#prisma.$executeRaw`
      INSERT INTO "job_queue" ("type", "payload", "state", "attempts", "claims", "claimedBy", "claimedAt", "finishedAt")
      SELECT ${contracts[0]!.type}, ${JSON.stringify(payload)}::jsonb, 'completed', 1, 1, 'bench', now(), now()
      FROM generate_series(1, ${this.#kept}::int)`;
    for (let filled = 0; filled < backlog; filled += BATCH) await this.#enqueue();
  }

  /** Completes at least so many more, and enqueues as many. */
  async complete(count: number): Promise<Worked> {
    const claims: number[] = [];
    const before = this.completed;
    const until = before + count;
    const started = performance.now();
    const lane = async () => {
      while (this.completed < until) {
        await this.#enqueue();
        const claiming = performance.now();
        const claimed = await claimJobs(this.#prisma, this.request);
        claims.push(performance.now() - claiming);
        const lost = await settleAll(
          this.#prisma,
          claimed.map((job) => complete(job)),
        );
        if (lost.length > 0) throw new Error(`${lost.length} claims were lost, and nobody else claims`);
        this.completed += claimed.length;
        await this.#clean();
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return { jobs: this.completed - before, claims, seconds: (performance.now() - started) / 1_000 };
  }

  async #enqueue(): Promise<void> {
    this.#enqueued += 1;
    const contract = contracts[this.#enqueued % contracts.length]!;
    const items = Array.from({ length: BATCH }, (_, n) => ({
      payload,
      priority: n % 4 === 0 ? ('high' as const) : ('normal' as const),
    }));
    await enqueueMany(this.#prisma, contract, items);
  }

  async #clean(): Promise<void> {
    const surplus = this.completed - this.#deleted;
    if (surplus < BATCH) return;
    this.#deleted += await deleteFinished(this.#prisma, 0, BATCH);
  }
}
