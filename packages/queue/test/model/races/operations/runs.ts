/** What a run does to its job, through the fence. */
import type { QueueClient } from '../../../../src/client.ts';
import type { JobContext } from '../../../../src/context.ts';
import { decide, type Outcome } from '../../../../src/core/decide.ts';
import { ClaimLostError } from '../../../../src/errors.ts';
import { renewLeases } from '../../../../src/renew-leases.ts';
import { settleRuns } from '../../../../src/settle-runs.ts';
import { writeProgress } from '../../../../src/store/progress.ts';
import { contextOf } from '../../context.ts';
import { progressMove, renewMove } from '../../moves/lease.ts';
import { heldRow } from '../../moves/move.ts';
import { settleMove } from '../../moves/settle.ts';
import { LEASE_MS, type Target } from '../situations.ts';
import { never, reportEach, type Operation } from './operation.ts';

const thrown = { message: 'no luck', stack: null };

export const completes = settling('complete', { outcome: 'completed', result: '{"n":1}' });
export const fails = settling('fail', { outcome: 'failed', kind: 'failed', thrown });
/** Of a worker that keeps nothing. */
export const completesAndDeletes = settling(
  'complete and delete',
  { outcome: 'completed', result: null },
  { keepCompleted: false },
);

function settling(name: string, outcome: Outcome, options = { keepCompleted: true }): Operation {
  return {
    name,
    async attempt(client, targets) {
      const runs = targets.map(({ claim }) => ({
        ...claim,
        settlement: decide(outcome, claim),
        completing: false,
      }));
      const { lost, locked } = await settleRuns(client, runs, options);
      const reports = new Map(targets.map(({ id }) => [id, 'settled']));
      for (const { id } of lost) reports.set(id, 'lost');
      for (const { id } of locked) reports.set(id, 'locked');
      return reports;
    },
    move: (table, now, { claim }) =>
      settleMove(table, now, { ...claim, outcome, completing: false, ...options }),
    isPassedBy: (report) => report === 'locked',
    isEnding: (report) => report === 'settled',
  };
}

/** It waits for its row, which it is to hold: a moment's lock must not cost a handler its transaction. */
export const completesInTransaction: Operation = {
  name: 'ctx.complete',
  waitsFor: 'anyone',
  isByPrisma: true,
  attempt: (client, targets) =>
    reportEach(targets, (target) => inContext(client, target, (ctx) => ctx.complete(client, { n: 1 }))),
  move: (table, now, { claim }) => {
    const outcome = { outcome: 'completed', result: '{"n":1}' } as const;
    return settleMove(table, now, { ...claim, outcome, completing: false, keepCompleted: true });
  },
  isPassedBy: never,
  isEnding: (report) => report === 'settled',
};

/** Its SQL is the queue's own. */
export const deletesInTransaction: Operation = {
  ...completesInTransaction,
  name: 'ctx.complete and delete',
  isByPrisma: false,
  attempt: (client, targets) =>
    reportEach(targets, (target) =>
      inContext(client, target, (ctx) => ctx.complete(client), { keepCompleted: false }),
    ),
  move: (table, now, { claim }) => {
    const outcome = { outcome: 'completed', result: null } as const;
    return settleMove(table, now, { ...claim, outcome, completing: false, keepCompleted: false });
  },
};

export const asserts: Operation = {
  name: 'ctx.assertClaim',
  waitsFor: 'anyone',
  isByPrisma: true,
  attempt: (client, targets) =>
    reportEach(targets, (target) => inContext(client, target, (ctx) => ctx.assertClaim(client))),
  move: (table, _, { claim }) => ({ table, report: heldRow(table, claim) ? 'settled' : 'lost' }),
  isPassedBy: never,
};

async function inContext(
  client: QueueClient,
  { claim }: Target,
  use: (ctx: JobContext) => Promise<void>,
  options = { keepCompleted: true },
) {
  try {
    await use(contextOf(client, claim, options).context);
    return 'settled';
  } catch (error) {
    if (error instanceof ClaimLostError) return 'lost';
    throw error;
  }
}

export const renews: Operation = {
  name: 'renew',
  async attempt(client, targets) {
    const leases = targets.map(({ claim: { id, claimToken } }) => ({ id, claimToken, leaseMs: LEASE_MS }));
    return new Map((await renewLeases(client, leases)).map((renewal) => [renewal.id, renewal]));
  },
  move: (table, now, { claim }) => renewMove(table, now, { ...claim, leaseMs: LEASE_MS }),
  isPassedBy: (report) => (report as { renewal: string }).renewal === 'locked',
};

export const writesProgress: Operation = {
  name: 'progress',
  attempt: (client, targets) => reportEach(targets, ({ claim }) => writeProgress(client, claim, '5')),
  move: (table, _, { claim }) => progressMove(table, claim, 5),
  isPassedBy: (report) => report === 'locked',
};
