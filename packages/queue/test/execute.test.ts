/** One run from its claim to its outcome: what the handler gets, and what becomes of what it does. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineJob,
  DiscardError,
  DrainDeadlineError,
  handle,
  JobCancelledError,
  SnoozeError,
} from '../src/index.ts';
import { claimJobs, prepareRun, type Outcome } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';
import { newGate } from './fixtures/gate.ts';
import { startHandler, watchEnvironment } from './fixtures/run.ts';
import { newClaim, newContract, only, wantedOf } from './fixtures/jobs.ts';

const { prisma, row } = await openDatabase();

const never = new Promise<never>(() => {});

/** Rejects with an AbortError when the signal aborts, as fetch does. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const abort = () => reject(new DOMException('aborted', 'AbortError'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });

describe('a handler', () => {
  test('gets its payload as the schema makes it, and its context', async () => {
    const contract = defineJob({
      type: 'test.execute.payload',
      payload: z.object({ at: z.coerce.date(), n: z.number().default(7) }),
      maxAttempts: 4,
    });
    await prisma.jobQueue.create({
      data: {
        type: contract.type,
        payload: { at: '2026-01-01' },
        maxAttempts: 4,
        priority: 0,
        progress: { at: 3 },
      },
    });
    const job = only(await claimJobs(prisma, { workerId: 'w', wanted: [wantedOf(contract)], capacity: 1 }));
    let seen: unknown[] = [];
    const { run, draining } = startHandler(
      prisma,
      job,
      async (payload, ctx) => {
        seen = [payload, ctx.job, ctx.attempt, ctx.fence, ctx.signal.aborted, ctx.draining];
      },
      contract,
    );
    await run.outcome;
    const { id, createdAt, runAt, claimedAt } = await row(job.id);
    expect(seen).toEqual([
      { at: new Date('2026-01-01'), n: 7 },
      {
        id,
        type: contract.type,
        priority: 'urgent',
        attempts: 1,
        maxAttempts: 4,
        claims: 1,
        crashes: 0,
        ...{
          dedupeKey: null,
          progress: { at: 3 },
          createdAt,
          runAt,
          claimedAt,
        },
      },
      1,
      1,
      false,
      draining.signal,
    ]);
    expect(seen[1]).not.toHaveProperty('claimToken');
  });

  test('gets a payload that was parsed once: a schema need not take what it makes', async () => {
    const contract = defineJob({
      type: 'test.execute.once',
      payload: z.object({ n: z.string().transform(Number) }),
    });
    const job = { ...(await newClaim(prisma)), type: contract.type, payload: { n: '7' } };
    const { run } = startHandler(prisma, job, async (payload) => payload, contract);
    expect(await run.outcome).toEqual({ outcome: 'completed', result: '{"n":7}' });
  });

  test('is not called with a payload that its schema refuses', async () => {
    const contract = defineJob({ type: 'test.execute.refused', payload: z.object({ n: z.number() }) });
    const job = { ...(await newClaim(prisma)), type: contract.type, payload: { n: 'x' } };
    let called = false;
    const handler = async () => void (called = true);
    expect(await startHandler(prisma, job, handler, contract).run.outcome).toMatchObject({
      outcome: 'failed',
      kind: 'invalid_payload',
      thrown: { message: expect.stringContaining('payload of test.execute.refused: n: ') as string },
    });
    expect(called).toBe(false);
  });

  test.each([
    ['nothing', undefined, null],
    ['an object', { n: 1 }, '{"n":1}'],
    ['what jsonb refuses', { t: '\0', n: 1n }, '{"t":"\ufffd","n":"1"}'],
    ['more than 64 KiB', 'x'.repeat(65_535), '{"truncated":true,"bytes":65537}'],
  ])('returns %s', async (_, value, result) => {
    const { run } = startHandler(prisma, await newClaim(prisma), async () => value);
    expect(await run.outcome).toEqual({ outcome: 'completed', result });
    await run.returned;
  });

  test.each<[string, unknown, object]>([
    ['an error', new Error('no luck'), { outcome: 'failed', kind: 'failed', thrown: { message: 'no luck' } }],
    ['null', null, { outcome: 'failed', thrown: { message: 'thrown: null' } }],
    ['to snooze', new SnoozeError('5m'), { outcome: 'snoozed', delayMs: 300_000 }],
    [
      'to discard',
      new DiscardError('never'),
      { outcome: 'discarded', thrown: { message: 'DiscardError: never' } },
    ],
    [
      'something that cannot be read',
      {
        code: 'SNOOZE',
        get delay() {
          throw new Error('hostile');
        },
      },
      { outcome: 'failed' },
    ],
  ])('throws %s', async (_, thrown, outcome) => {
    const { run, pendingTimers } = startHandler(prisma, await newClaim(prisma), async () => {
      throw thrown;
    });
    expect(await run.outcome).toMatchObject(outcome);
    await run.returned;
    expect(pendingTimers()).toBe(0);
  });

  test('throws before it returns a promise', async () => {
    const { run } = startHandler(prisma, await newClaim(prisma), () => {
      throw new Error('at once');
    });
    expect(await run.outcome).toMatchObject({ outcome: 'failed', thrown: { message: 'at once' } });
  });
});

test('whatever comes of a run, nobody is told before its start is over', async () => {
  const contract = defineJob({ type: 'test.execute.later', payload: z.object({ n: z.number() }) });
  const claimed = { ...(await newClaim(prisma)), type: contract.type };
  for (const payload of [{ n: 1 }, { n: 'refused' }]) {
    const { run } = startHandler(prisma, { ...claimed, payload }, async () => {}, contract);
    let isTold = false;
    void run.outcome.then(() => (isTold = true));
    // As many turns as an outcome needs that was there at once.
    await Promise.resolve();
    expect(isTold).toBe(false);
    await run.returned;
  }
});

describe('the timeout', () => {
  test('ends the run while the handler goes on; its slot is taken until it returns', async () => {
    const contract = newContract({ timeout: 20 });
    const gate = newGate();
    const { run } = startHandler(prisma, await newClaim(prisma), () => gate.opened, contract);
    let returned = false;
    const returning = run.returned.then(() => (returned = true));

    expect(await run.outcome).toMatchObject({
      outcome: 'failed',
      kind: 'timeout',
      thrown: { message: `JobTimeoutError: ${run.job.type} ran longer than its timeout of 20 ms` },
    });
    expect(run.signal.reason).toMatchObject({ code: 'JOB_TIMEOUT' });
    expect(returned).toBe(false);
    gate.open();
    await returning;
  });

  test('stands, whatever the handler makes of it afterwards', async () => {
    const contract = newContract({ timeout: 20 });
    const { run } = startHandler(
      prisma,
      await newClaim(prisma),
      async (_, ctx) => {
        await untilAborted(ctx.signal).catch(() => {});
        return 'done after all';
      },
      contract,
    );
    await run.returned;
    expect(await run.outcome).toMatchObject({ outcome: 'failed', kind: 'timeout' });
  });

  test('is told once, and the return after it is no second outcome; nor is a release', async () => {
    const { environment } = watchEnvironment(prisma);
    const gate = newGate();
    const told: string[] = [];
    const job = await newClaim(prisma);
    const handler = handle(newContract({ timeout: 20 }), () => gate.opened);
    await new Promise<void>((onReturn) => {
      const onOutcome = ({ outcome }: Outcome) => {
        told.push(outcome);
        gate.open();
      };
      const run = prepareRun(job, handler, environment, {
        onOutcome,
        onReturn() {
          run.release();
          onReturn();
        },
      });
      run.start();
    });
    expect(told).toEqual(['failed']);
  });

  test('of a run that has ended does not ring', async () => {
    const { run, pendingTimers } = startHandler(prisma, await newClaim(prisma), async () => 1);
    await run.returned;
    expect(pendingTimers()).toBe(0);
    expect(run.signal.aborted).toBe(false);
  });
});

describe('a run that is stopped', () => {
  test.each([
    [new DrainDeadlineError(), { outcome: 'released' }],
    [new JobCancelledError('01a22acf-4ea4-7151-bc43-831552cb7b85'), { outcome: 'cancelled' }],
  ])('by %s ends so when its handler gives up', async (reason, outcome) => {
    const { run } = startHandler(prisma, await newClaim(prisma), (_, ctx) => untilAborted(ctx.signal));
    run.stop(reason);
    run.stop(new DrainDeadlineError());
    expect(run.signal.reason).toBe(reason);
    expect(await run.outcome).toMatchObject(outcome);
  });

  test('and whose handler finishes all the same has completed', async () => {
    const { run } = startHandler(prisma, await newClaim(prisma), async (_, ctx) => {
      await untilAborted(ctx.signal).catch(() => {});
      return 1;
    });
    run.stop(new JobCancelledError(run.job.id));
    expect(await run.outcome).toEqual({ outcome: 'completed', result: '1' });
  });

  test('and whose handler ignores it can be handed back', async () => {
    const { run } = startHandler(prisma, await newClaim(prisma), () => never);
    run.stop(new DrainDeadlineError());
    run.release();
    expect(await run.outcome).toEqual({ outcome: 'released' });
  });

  test('hears of a drain before that', async () => {
    const { run, draining } = startHandler(prisma, await newClaim(prisma), async (_, ctx) => {
      await untilAborted(ctx.draining).catch(() => {});
      throw new SnoozeError(0);
    });
    draining.abort();
    expect(await run.outcome).toEqual({ outcome: 'snoozed', delayMs: 0 });
    expect(run.signal.aborted).toBe(false);
  });
});
