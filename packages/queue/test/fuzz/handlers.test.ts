/** What handlers throw, return, report, and hand to the queue: written and readable, and no run is left hanging. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DiscardError, findJob, handle, SnoozeError, type JobContext } from '../../src/index.ts';
import { runDueJobs } from '../../src/testing/index.ts';
import { openDatabase } from '../fixtures/database.ts';
import { enqueueJobs, newClaim, newContract } from '../fixtures/jobs.ts';
import { startHandler } from '../fixtures/run.ts';
import { answerOf, anyValue, HOSTILE, isTyped, namesField, revoked, untouchable } from './hostile.ts';

const RUNS = 2;
/** Values of one run: a job each, settled in a batch. */
const VALUES = 10;

const { prisma } = await openDatabase();

/** Every connection of the pool may be taken for a while. */
const PATIENT = { maxWait: 30_000, timeout: 30_000 };

const WAYS: Record<string, (value: unknown, context: JobContext) => Promise<unknown>> = {
  'throws it': (value) => Promise.reject(value),
  'throws it at once': (value) => {
    throw value;
  },
  'returns it': (value) => Promise.resolve([value]),
  'reports it': async (value, context) => context.progress([value]),
  'throws it after having completed': async (value, context) => {
    await prisma.$transaction((tx) => context.complete(tx, [value]), PATIENT);
    throw value;
  },
  'snoozes for it': (value) => Promise.reject(new SnoozeError(value as number)),
  'gives it as a delay': (value) => Promise.reject({ code: 'SNOOZE', delay: value }),
  'discards with it': (value) => Promise.reject(new DiscardError(value as string)),
  'completes with it for a transaction': (value, context) => context.complete(value as typeof prisma),
};

/** Each value by a job of its own; what the table then says of them. */
async function statesAfter(how: string, values: readonly unknown[]): Promise<string[]> {
  const contract = newContract({ maxAttempts: 1 });
  // A delay of nearly nothing would make the job due again in every round.
  const given = values.map((value) => (isShort(value) ? 60_000 : value));
  const ids = await enqueueJobs(prisma, contract, given.length);
  await runDueJobs(prisma, [
    handle(contract, (payload, context) => WAYS[how]!(given[(payload as { n: number }).n], context)),
  ]);
  return Promise.all(
    ids.map(async (id) => {
      const job = await findJob(prisma, id);
      for (const { message, stack } of job?.errors ?? []) {
        expect(message.length).toBeGreaterThan(0);
        expect(message.length + (stack?.length ?? 0)).toBeLessThanOrEqual(10_000);
      }
      expect(JSON.stringify([job?.result, job?.progress]).length).toBeLessThan(140_000);
      return job?.state ?? 'gone';
    }),
  );
}

const isShort = (value: unknown) => typeof value === 'number' && value >= 0 && value < 60_000;

const ENDS: Record<string, readonly string[]> = {
  'throws it': ['dead', 'pending'],
  'throws it at once': ['dead', 'pending'],
  'returns it': ['completed'],
  'reports it': ['completed'],
  'throws it after having completed': ['completed'],
  'snoozes for it': ['dead', 'pending'],
  'gives it as a delay': ['dead', 'pending'],
  'discards with it': ['dead'],
  'completes with it for a transaction': ['dead'],
};

test.each(Object.keys(WAYS))('a handler that %s', { timeout: 60_000 }, async (how) => {
  const all = [...HOSTILE, revoked(), () => revoked()];
  for (const state of await statesAfter(how, all)) expect(ENDS[how]).toContain(state);
  await fc.assert(
    fc.asyncProperty(fc.array(anyValue, { minLength: VALUES, maxLength: VALUES }), async (values) => {
      for (const state of await statesAfter(how, values)) expect(ENDS[how]).toContain(state);
    }),
    { numRuns: RUNS },
  );
});

test('a result or progress that Postgres would spell far longer is not kept', async () => {
  const contract = newContract();
  const huge = Array.from({ length: 9_000 }, () => 1e308);
  const [id = ''] = await enqueueJobs(prisma, contract, 1);
  await runDueJobs(prisma, [
    handle(contract, async (_, context) => {
      await context.progress(huge);
      return huge;
    }),
  ]);
  const truncated = { truncated: true, bytes: expect.any(Number) };
  expect(await findJob(prisma, id)).toMatchObject({ progress: truncated, result: truncated });
});

test('a logger that is given what was thrown can read it', async () => {
  const job = await newClaim(prisma);
  const { run, logged } = startHandler(prisma, job, async (_, context) => {
    await prisma.$transaction((tx) => context.complete(tx));
    throw untouchable;
  });
  await run.returned;
  expect(await run.outcome).toMatchObject({ outcome: 'failed' });
  expect(JSON.stringify(logged)).toContain('cannot be read');
});

test('what is no transaction is named', async () => {
  const job = await newClaim(prisma);
  const answers: unknown[] = [];
  const { run } = startHandler(prisma, job, async (_, context) => {
    for (const junk of [undefined, untouchable, {}]) {
      answers.push(await answerOf(() => context.assertClaim(junk as typeof prisma)));
      answers.push(await answerOf(() => context.complete(junk as typeof prisma)));
    }
  });
  await run.returned;
  expect(await run.outcome).toMatchObject({ outcome: 'completed' });
  expect(answers.every((answer) => namesField((answer as { error: unknown }).error, /^tx$/))).toBe(true);
});

test('runDueJobs takes a client and a list of handlers, one a type', async () => {
  const run = runDueJobs as (...args: unknown[]) => Promise<unknown>;
  const handler = handle(newContract(), async () => {});
  for (const args of [
    [undefined, []],
    [prisma],
    [prisma, {}],
    [prisma, [undefined]],
    [prisma, [handler.contract]],
    [untouchable, []],
  ]) {
    const answer = await answerOf(() => run(...args));
    expect(namesField((answer as { error: unknown }).error, /^(client|handlers(\[0\])?)$/)).toBe(true);
  }
  const twice = await answerOf(() => run(prisma, [handler, handler]));
  expect(isTyped((twice as { error: unknown }).error)).toBe(true);
});

test('runDueJobs has an end, whatever its jobs do', { timeout: 60_000 }, async () => {
  const contract = newContract();
  await enqueueJobs(prisma, contract, 1);
  const endless = handle(contract, () => Promise.reject(new SnoozeError(0)));
  await expect(runDueJobs(prisma, [endless])).rejects.toMatchObject({ code: 'RUNAWAY_JOBS' });
});
