import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { PRIORITIES, type Priority } from '../../../src/core/states.ts';
import { enqueueMany, type EnqueueItem } from '../../../src/enqueue.ts';
import { defineJob } from '../../../src/job.ts';
import { enqueueMove } from '../moves/enqueue.ts';
import { inMs } from '../moves/move.ts';
import { MILLISECOND, type Instant } from '../table.ts';
import { command, step, type Real, type World } from '../world.ts';
import { commits, kind } from './kinds.ts';

const MINUTE = 60_000;

const item = fc.record({
  when: fc.constantFrom(
    'at once',
    'at once',
    'at once',
    'an instant ago',
    'an instant to come',
    'after a delay',
  ),
  priority: fc.constantFrom(...(Object.keys(PRIORITIES) as Priority[])),
  dedupeKey: fc.constantFrom(null, 'k', 'k', 'l'),
});

interface Batch {
  readonly type: string;
  readonly limits: { readonly maxAttempts: number; readonly maxCrashes: number };
  readonly items: readonly Item[];
}

/** One to three jobs of a type, in one call. Few attempts, so that jobs die; or many, so that errors pile up. */
export const enqueueCommand = fc
  .record({
    type: kind.map(({ type }) => type),
    limits: fc.record({
      maxAttempts: fc.constantFrom(1, 2, 25, 25),
      maxCrashes: fc.constantFrom(1, 3, 25, 25),
    }),
    items: fc.array(item, { minLength: 1, maxLength: 3 }),
    commits,
  })
  .map(({ commits: doesCommit, ...batch }) =>
    command(`enqueue(${fc.stringify(batch)}, commits ${doesCommit})`, (world, real) =>
      enqueue(world, real, batch, doesCommit),
    ),
  );

export async function enqueue(
  world: World,
  real: Real,
  { type, limits, items }: Batch,
  doesCommit: boolean,
): Promise<void> {
  await step(world, real, {
    cause: 'enqueue',
    commits: doesCommit,
    async act(tx, now) {
      const contract = defineJob({ type, payload: z.unknown(), ...limits });
      const asked = items.map((one, n) => optionsOf(one, now, { n }));
      const outcomes = await enqueueMany(tx, contract, asked);
      const jobs = items.map((one, n) => ({
        // A duplicate's id is that of the job it met, so that it stands for no new one.
        id: outcomes[n]?.id ?? '',
        payload: { n },
        priority: PRIORITIES[one.priority],
        runAt: instantOf(one, now),
        dedupeKey: one.dedupeKey,
      }));
      const { table, report } = enqueueMove(world.table, now, { type, ...limits }, jobs);
      expect(outcomes).toEqual(report);
      return table;
    },
  });
}

type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;

/** As a Date says it: to the millisecond. */
const dateOf = (now: Instant, ms: number) => new Date(Math.floor(now / MILLISECOND) + ms);

function optionsOf(
  { when, priority, dedupeKey }: Item,
  now: Instant,
  payload: unknown,
): EnqueueItem<unknown> {
  const options = { payload, priority, ...(dedupeKey !== null && { dedupeKey }) };
  switch (when) {
    case 'an instant ago':
      return { ...options, runAt: dateOf(now, -MINUTE) };
    case 'an instant to come':
      return { ...options, runAt: dateOf(now, MINUTE) };
    case 'after a delay':
      return { ...options, delay: '1m' };
    default:
      return options;
  }
}

function instantOf({ when }: Item, now: Instant): Instant {
  switch (when) {
    case 'an instant ago':
      return dateOf(now, -MINUTE).getTime() * MILLISECOND;
    case 'an instant to come':
      return dateOf(now, MINUTE).getTime() * MILLISECOND;
    case 'after a delay':
      return inMs(now, MINUTE);
    default:
      return now;
  }
}
