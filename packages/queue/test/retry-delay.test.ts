import { describe, expect, test } from 'vitest';
import { openDatabase } from './fixtures/database.ts';
import { claimOf, enqueueJobs, newContract, only } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

describe('the delay after the n-th attempt is base * 2^(n-1), at most max, of which a random half to whole', () => {
  test.each([
    [0, 1_000],
    [1, 2_000],
    [2, 4_000],
    [5, 32_000],
    [6, 60_000],
    [40, 60_000],
    [999, 60_000],
  ])('after %d attempts before', async (attempts, wholeMs) => {
    const contract = newContract({ retry: { base: '1s', max: '60s' } });
    await enqueueJobs(prisma, contract, 60);
    await prisma.jobQueue.updateMany({ where: { type: contract.type }, data: { attempts } });
    await claimOf(prisma, contract);
    const rows = await prisma.jobQueue.findMany({ where: { type: contract.type } });
    const delays = rows.map(({ retryDelayMs }) => retryDelayMs ?? Number.NaN);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(wholeMs / 2);
      expect(delay).toBeLessThanOrEqual(wholeMs);
    }
    expect(new Set(delays).size).toBeGreaterThan(30);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(wholeMs / 4);
  });

  test('with the longest delays and the most attempts that a contract may ask for', async () => {
    const contract = newContract({ retry: { base: '1d', max: '7d' } });
    await enqueueJobs(prisma, contract, 1);
    await prisma.jobQueue.updateMany({ where: { type: contract.type }, data: { attempts: 999 } });
    const { retryDelayMs } = await row(only(await claimOf(prisma, contract)).id);
    expect(retryDelayMs).toBeGreaterThanOrEqual(3.5 * 86_400_000);
  });
});
