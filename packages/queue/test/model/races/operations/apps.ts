/** What apps and operators do to jobs. */
import { z } from 'zod';
import { enqueue } from '../../../../src/enqueue.ts';
import { defineJob } from '../../../../src/job.ts';
import { cancel, retry } from '../../../../src/operate.ts';
import { enqueueMove } from '../../moves/enqueue.ts';
import { cancelMove, retryMove } from '../../moves/operate.ts';
import { KEY, TYPE } from '../situations.ts';
import { never, reportEach, type Operation } from './operation.ts';

export const cancels: Operation = {
  name: 'cancel',
  attempt: (client, targets) => reportEach(targets, ({ id }) => cancel(client, id)),
  move: (table, now, { id }) => cancelMove(table, now, id),
  isPassedBy: isBusy,
};

export const retries: Operation = {
  name: 'retry',
  // Whether the key is free depends on the transaction that inserts a job with it.
  waitsFor: ['enqueue'],
  attempt: (client, targets) =>
    reportEach(targets, async ({ id }) => withoutDuplicate(await retry(client, id))),
  move(table, now, { id }) {
    const { table: after, report } = retryMove(table, now, id);
    return { table: after, report: withoutDuplicate(report) };
  },
  isPassedBy: isBusy,
};

/** Met at the index, the duplicate has no name. */
function withoutDuplicate<Report extends { readonly outcome: string }>(report: Report) {
  return report.outcome === 'duplicate' ? { outcome: 'duplicate' } : report;
}

const contract = defineJob({ type: TYPE, payload: z.unknown() });

export const enqueues: Operation = {
  name: 'enqueue',
  // Whether it is a duplicate depends on the transaction that makes a job with the key pending.
  waitsFor: ['enqueue', 'retry'],
  attempt: (client, targets) =>
    reportEach(targets, () => enqueue(client, contract, 'again', { dedupeKey: `${KEY}1` })),
  move(table, now, _, report) {
    const { id } = report as { id: string };
    const job = { id, payload: 'again', priority: 2, runAt: now, dedupeKey: `${KEY}1` };
    const { type, maxAttempts, maxCrashes } = contract;
    const limits = { type, maxAttempts, maxCrashes };
    const { table: after, report: outcomes } = enqueueMove(table, now, limits, [job]);
    return { table: after, report: outcomes[0] };
  },
  isPassedBy: never,
};

function isBusy(report: unknown): boolean {
  return (report as { outcome: string }).outcome === 'busy';
}
