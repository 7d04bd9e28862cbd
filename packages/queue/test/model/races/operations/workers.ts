/** What workers do to jobs that nobody has, or that nobody may have any more. */
import { claimJobs } from '../../../../src/store/claim.ts';
import { deleteFinished } from '../../../../src/store/cleanup.ts';
import { reclaimJobs } from '../../../../src/store/reclaim.ts';
import { claimMove, type Draw } from '../../moves/claim.ts';
import { expired, reclaimMove } from '../../moves/lease.ts';
import { cleanupMove, outdated } from '../../moves/operate.ts';
import { readTable } from '../../table.ts';
import { LEASE_MS, RETENTION_MS, TYPE } from '../situations.ts';
import type { Operation } from './operation.ts';

export const sweeps: Operation = {
  name: 'sweep',
  async attempt(client, targets) {
    const reclaimed = new Map((await reclaimJobs(client, 100)).map((job) => [job.id, job]));
    return new Map(targets.map(({ id }) => [id, reclaimed.get(id) ?? 'nothing']));
  },
  move(table, now, { id }) {
    if (!expired(table, now).some((row) => row.id === id)) return { table, report: 'nothing' };
    const { table: after, report } = reclaimMove(table, now, [id]);
    return { table: after, report: report[0] };
  },
  isPassedBy: (report) => report === 'nothing',
  isEnding: (report) => report !== 'nothing',
};

const room = { workerId: 'another', capacity: 10 };
const wanted = [{ type: TYPE, slots: 10, leaseMs: LEASE_MS, retry: { baseMs: 1_000, maxMs: 1_000_000 } }];

/** Of all rows that are due, so that its one report is about all of them. */
export const claims: Operation = {
  name: 'claim',
  async attempt(client, targets) {
    const claimed = await claimJobs(client, { ...room, wanted });
    const rows = await readTable(client);
    const draws = claimed.map(({ id, claimToken }): Draw => {
      return { id, claimToken, retryDelayMs: rows.get(id)?.retryDelayMs ?? Number.NaN };
    });
    return new Map(targets.map(({ id }) => [id, draws]));
  },
  move(table, now, _, report) {
    const draws = report as Draw[];
    const { table: after, report: problems } = claimMove(table, now, { ...room, wanted }, draws);
    return { table: after, report: problems.length === 0 ? draws : problems };
  },
  isPassedBy: (report) => (report as Draw[]).length === 0,
};

export const cleansUp: Operation = {
  name: 'cleanup',
  async attempt(client, targets) {
    await deleteFinished(client, RETENTION_MS, 100);
    const left = await readTable(client);
    return new Map(targets.map(({ id }) => [id, left.has(id) ? 'left' : 'deleted']));
  },
  move(table, now, { id }) {
    const isOutdated = outdated(table, now, RETENTION_MS).some((row) => row.id === id);
    const report = isOutdated || !table.has(id) ? 'deleted' : 'left';
    return { table: isOutdated ? cleanupMove(table, [id]).table : table, report };
  },
  isPassedBy: (report) => report === 'left',
};
