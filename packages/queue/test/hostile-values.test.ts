/** Whatever a handler throws, returns or reports: it is written, readable, and hangs no job of its batch. */
import { describe, expect, test } from 'vitest';
import { DiscardError, findJob, handle, SnoozeError } from '../src/index.ts';
import { decide, settleRuns } from '../src/protocol.ts';
import { runDueJobs } from '../src/testing/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { startHandler } from './fixtures/run.ts';
import { claimOf, enqueueJobs, newContract } from './fixtures/jobs.ts';

const { prisma } = await openDatabase();

const nasty = `a\0b\ud83dc\udc00 👩‍🚀 \\u0000 "'{} ${'é'.repeat(100_000)}`;
const cyclic: Record<string, unknown> = { nasty };
cyclic['self'] = cyclic;
const untouchable = new Proxy(
  {},
  {
    get() {
      throw new Error(nasty);
    },
    ownKeys() {
      throw new Error(nasty);
    },
  },
);

const values: [string, unknown][] = [
  ['text', nasty],
  ['an error', Object.assign(new Error(nasty), { name: nasty, stack: nasty })],
  ['null', null],
  ['undefined', undefined],
  ['a BigInt', 10n ** 400n],
  ['a symbol', Symbol(nasty)],
  ['a cycle', cyclic],
  ['keys', { [nasty]: { [nasty]: 1 } }],
  ['boxed text', Object(nasty)],
  ['an object that throws', untouchable],
  ['an object without a prototype', Object.assign(Object.create(null), { nasty })],
  ['a function', () => nasty],
  ['NaN', [Number.NaN, Infinity, -0]],
  ['an invalid date', new Date(Number.NaN)],
];

describe.each(['throws', 'returns', 'reports as progress'])('a handler that %s', (how) => {
  test('anything at all', async () => {
    const contract = newContract();
    const ids = await enqueueJobs(prisma, contract, values.length);
    const jobs = new Map((await claimOf(prisma, contract)).map((job) => [job.id, job]));
    const runs = await Promise.all(
      ids.flatMap((id, index) => {
        const job = jobs.get(id);
        if (!job) return [];
        const value = values[index]?.[1];
        const { run } = startHandler(prisma, job, async (_, ctx) => {
          if (how === 'throws') throw value;
          if (how === 'returns') return value;
          await ctx.progress(value);
        });
        return [
          run.outcome.then((outcome) => ({ ...job, settlement: decide(outcome, job), completing: false })),
        ];
      }),
    );
    expect(runs).toHaveLength(values.length);
    expect(await settleRuns(prisma, runs)).toEqual({ lost: [], locked: [] });

    const states = await Promise.all(
      ids.map(async (id, index) => {
        const job = await findJob(prisma, id);
        const lengths = job?.errors.map(({ message }) => message.length) ?? [];
        return [values[index]?.[0], job?.state, Math.max(0, ...lengths) <= 2_000];
      }),
    );
    expect(states).toEqual(values.map(([name]) => [name, stateAfter(how, name), true]));
  });
});

/** What cannot be read at all is a failure of the handler that returned it. */
function stateAfter(how: string, name: string): string {
  const failed = how === 'throws' || (how === 'returns' && name === 'an object that throws');
  return failed ? 'pending' : 'completed';
}

test.each([new SnoozeError(nasty), new DiscardError(nasty), { code: 'SNOOZE', delay: untouchable }])(
  'the queue’s own errors as well: %#',
  async (thrown) => {
    const contract = newContract();
    const [id = ''] = await enqueueJobs(prisma, contract, 1);
    await runDueJobs(prisma, [
      handle(contract, async () => {
        throw thrown;
      }),
    ]);
    const job = await findJob(prisma, id);
    expect(job?.state).not.toBe('running');
    expect(job?.errors).toHaveLength(1);
  },
);
