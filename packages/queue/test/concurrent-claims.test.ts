/**
 * Eight claimers at once on one warm pool: every claim has a token of its own, no job is claimed twice while a claim of
 * it stands, and none is lost.
 */
import { describe, expect, test } from 'vitest';
import { claimJobs, nameOf, reclaimJobs, type ClaimedJob } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import {
  complete,
  endLease,
  enqueueJobs,
  failed,
  newContract,
  settleAll,
  wantedOf,
} from './fixtures/jobs.ts';

const { newPrisma } = await openDatabase();
const CLAIMERS = 8;
const prisma = newPrisma(CLAIMERS);

async function warmUp(): Promise<void> {
  await Promise.all(Array.from({ length: CLAIMERS }, () => prisma.$queryRaw`SELECT pg_sleep(0.05)::text`));
}

/** Each claimer until it finds nothing; the claims in the order in which they came back, and how many statements brought some. */
async function claimEverything(
  types: readonly ReturnType<typeof newContract>[],
  capacity: number,
  afterwards: (jobs: ClaimedJob[]) => Promise<void> = async () => {},
): Promise<{ claims: ClaimedJob[]; statements: number; mostAtOnce: number }> {
  const claims: ClaimedJob[] = [];
  let statements = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  const wanted = types.map((contract) => wantedOf(contract));
  const claimer = async (_: unknown, index: number) => {
    for (;;) {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      const jobs = await claimJobs(prisma, { workerId: `claimer-${index}`, wanted, capacity });
      atOnce -= 1;
      claims.push(...jobs);
      if (jobs.length > 0) statements += 1;
      await afterwards(jobs);
      // Rows that others were looking at are passed by: nothing found is not yet nothing left.
      if (jobs.length === 0 && (await remaining(types)) === 0) return;
    }
  };
  await Promise.all(Array.from({ length: CLAIMERS }, claimer));
  return { claims, statements, mostAtOnce };
}

async function remaining(types: readonly { type: string }[]): Promise<number> {
  const names = types.map(({ type }) => type);
  return prisma.jobQueue.count({ where: { type: { in: names }, state: 'pending' } });
}

const unique = (values: readonly string[]) => new Set(values).size;

describe('eight claimers', () => {
  test('claim each of 4,000 jobs of three types once', async () => {
    const types = [newContract(), newContract(), newContract()];
    for (const contract of types) await enqueueJobs(prisma, contract, 1_333);
    await warmUp();
    const { claims, statements, mostAtOnce } = await claimEverything(types, 25);

    expect(mostAtOnce).toBe(CLAIMERS);
    expect(claims).toHaveLength(3_999);
    expect(unique(claims.map(({ id }) => id))).toBe(3_999);
    const rows = await prisma.jobQueue.findMany({ where: { type: { in: types.map(({ type }) => type) } } });
    const tokens = new Map(rows.map(({ id, claimToken }) => [id, claimToken]));
    expect(claims.every(({ id, claimToken }) => tokens.get(id) === claimToken)).toBe(true);
    expect(
      rows.every(({ state, claims: count, attempts }) => state === 'running' && count + attempts === 2),
    ).toBe(true);
    expect(unique(rows.map(({ claimedBy }) => claimedBy ?? ''))).toBeGreaterThan(1);
    expect(unique(rows.map(({ claimToken }) => claimToken ?? ''))).toBe(statements);
  });

  test('and settle: some fail at first, and in the end every one of 2,000 has completed once', async () => {
    const types = [newContract({ retry: { base: 1, max: 1 } }), newContract({ retry: { base: 1, max: 1 } })];
    const ids: string[] = [];
    for (const contract of types) ids.push(...(await enqueueJobs(prisma, contract, 1_000)));
    await warmUp();
    const lost: string[] = [];
    const held = new Set<string>();
    const { claims } = await claimEverything(types, 20, async (jobs) => {
      for (const { id } of jobs) {
        // Between a claim and its settlement nobody else can have the job.
        if (held.has(id)) throw new Error(`${id} is claimed twice`);
        held.add(id);
      }
      await prisma.$queryRaw`SELECT 1`;
      const runs = jobs.map((job) =>
        job.attempts === 1 && job.id.endsWith('0') ? failed(job) : complete(job),
      );
      for (const { id } of jobs) held.delete(id);
      lost.push(...(await settleAll(prisma, runs)).map(({ id }) => id));
    });

    expect(lost).toEqual([]);
    expect(unique(claims.map(nameOf))).toBe(claims.length);
    const failures = ids.filter((id) => id.endsWith('0')).length;
    expect(failures).toBeGreaterThan(0);
    expect(claims).toHaveLength(2_000 + failures);
    const rows = await prisma.jobQueue.findMany({ where: { id: { in: ids } } });
    expect(rows.filter(({ state }) => state === 'completed')).toHaveLength(2_000);
    for (const { id, claims: count } of rows) expect(count).toBe(id.endsWith('0') ? 2 : 1);
  });

  test('and two sweeps: of each claim that is taken away only one settlement or the sweep counts', async () => {
    const contract = newContract({ retry: { base: 1, max: 1 }, maxCrashes: 1_000 });
    const ids = await enqueueJobs(prisma, contract, 500);
    await warmUp();
    const sweeping = new AbortController();
    const sweep = async () => {
      while (!sweeping.signal.aborted) await reclaimJobs(prisma, 50);
    };
    const sweeps = [sweep(), sweep()];
    const settledClaims: string[] = [];
    const lostClaims: string[] = [];
    const { claims } = await claimEverything([contract], 20, async (jobs) => {
      // A third of the first claims of each job are late.
      await endLease(
        prisma,
        jobs.filter(({ claims: count }, n) => count <= 3 && n % 3 === 0).map(({ id }) => id),
      );
      const lost = await settleAll(
        prisma,
        jobs.map((job) => complete(job)),
      );
      const gone = new Set(lost.map(nameOf));
      for (const name of jobs.map(nameOf)) (gone.has(name) ? lostClaims : settledClaims).push(name);
    });
    sweeping.abort();
    await Promise.all(sweeps);

    const rows = await prisma.jobQueue.findMany({ where: { id: { in: ids } } });
    expect(rows.filter(({ state }) => state === 'completed')).toHaveLength(500);
    expect(settledClaims).toHaveLength(500);
    expect(unique([...settledClaims, ...lostClaims])).toBe(claims.length);
    for (const { claims: count, crashes, attempts } of rows) {
      expect(count).toBe(crashes + 1);
      expect(attempts).toBe(count);
    }
    expect(rows.reduce((sum, { crashes }) => sum + crashes, 0)).toBe(lostClaims.length);
  });
});
