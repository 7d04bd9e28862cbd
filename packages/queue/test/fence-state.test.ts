/**
 * The fence names the state beside the token. The table's CHECK lets no token stay on a row that is not running; here it
 * is away, as in a table that somebody has repaired by hand, and the fence holds by itself.
 */
import { beforeAll, expect, test } from 'vitest';
import type { JobState } from '../src/core/states.ts';
import { renewLeases, settleRuns } from '../src/protocol.ts';
import { deleteClaimed } from '../src/store/delete-claimed.ts';
import { holdClaim } from '../src/store/hold.ts';
import { writeProgress } from '../src/store/progress.ts';
import { openDatabase } from './fixtures/database.ts';
import { complete, failed, fenceOf, newClaim } from './fixtures/jobs.ts';

const { prisma, row, connect } = await openDatabase();

beforeAll(async () => {
  const psql = await connect();
  await psql.query('ALTER TABLE job_queue DROP CONSTRAINT job_queue_running_is_claimed');
});

const states: JobState[] = ['pending', 'completed', 'cancelled', 'dead'];

test.each(states)('a token on a row that is %s writes nothing', async (state) => {
  const job = await newClaim(prisma);
  const finishedAt = state === 'pending' ? null : new Date();
  await prisma.jobQueue.update({ where: { id: job.id }, data: { state, finishedAt } });
  const before = await row(job.id);
  expect(before.claimToken).toBe(job.claimToken);

  await settleRuns(prisma, [complete(job)]);
  await settleRuns(prisma, [failed(job)]);
  await settleRuns(prisma, [complete(job)], { keepCompleted: false });
  expect(await deleteClaimed(prisma, job)).toBe(false);
  const [renewal] = await renewLeases(prisma, [{ ...fenceOf(job), leaseMs: 3_600_000 }]);
  expect(renewal?.renewal).toBe('lost');
  expect(await writeProgress(prisma, job, '1')).toBe('lost');
  expect(await holdClaim(prisma, job)).toBe(false);
  expect(await row(job.id)).toEqual(before);
});
