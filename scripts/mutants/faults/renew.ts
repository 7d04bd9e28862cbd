/** Renewal of leases, the statement: fenced pair by pair, and it neither waits nor gives up a locked row. */
import type { Fault } from '../fault.ts';

const renew = 'packages/queue/src/store/renew.ts';
const ownToken = `AND ("id", "claimToken") IN (SELECT "id", "claimToken" FROM "asked")`;
const fenceTest = ['packages/queue/test/fence.test.ts'];
const renewTest = ['packages/queue/test/renew.test.ts'];
const lockTest = ['packages/queue/test/locks.test.ts'];

export const renewFaults: readonly Fault[] = [
  {
    name: 'renew/no-token',
    breaks: 'a stale claim renews nothing',
    file: renew,
    replace: ownToken,
    by: `AND (SELECT count(*) FROM "asked") > 0`,
    tests: fenceTest,
    only: 'by renewing',
  },
  {
    name: 'renew/no-state',
    breaks: 'only a running row is renewed',
    file: renew,
    replace: `"state" = 'running'\n          AND`,
    by: '',
    tests: ['packages/queue/test/fence-state.test.ts'],
  },
  {
    name: 'renew/two-lists',
    breaks: 'each row is matched with its own token',
    file: renew,
    replace: ownToken,
    by: `AND "claimToken" IN (SELECT "claimToken" FROM "asked")`,
    tests: fenceTest,
    only: 'each other’s token',
  },
  {
    name: 'renew/waits',
    breaks: 'a locked row keeps no other from being renewed',
    file: renew,
    replace: 'FOR NO KEY UPDATE SKIP LOCKED',
    by: 'FOR NO KEY UPDATE',
    tests: lockTest,
    only: 'locked by a renewal',
  },
  {
    name: 'renew/locked-as-lost',
    breaks: 'a row that is merely locked is not lost',
    file: renew,
    replace: `THEN 'locked'`,
    by: `THEN 'lost'`,
    tests: lockTest,
    only: 'locked by a renewal',
  },
  {
    name: 'renew/lost-as-locked',
    breaks: 'a claim that is gone is told to its worker',
    file: renew,
    replace: `ELSE 'lost'`,
    by: `ELSE 'locked'`,
    tests: fenceTest,
    only: 'by renewing',
  },
  {
    name: 'renew/one-lease-for-all',
    breaks: 'each type has its own lease',
    file: renew,
    replace: `(durations."byId" ->> job."id"::text)::float8`,
    by: '30000::float8',
    tests: renewTest,
    only: 'its own lease',
  },
  {
    name: 'renew/only-before-its-end',
    breaks: 'a lease that ran out is renewed while nobody has taken the row',
    file: renew,
    replace: ownToken,
    by: `${ownToken}\n        AND "lockUntil" > now()`,
    tests: renewTest,
    only: 'saves a lease',
  },
  {
    name: 'renew/no-cancel-requests',
    breaks: 'a renewal brings back cancel requests',
    file: renew,
    replace: 'seen."cancelRequestedAt" IS NOT NULL',
    by: 'false',
    tests: renewTest,
    only: 'cancel requests',
  },
  {
    name: 'renew/touches-the-row',
    breaks: 'a renewal leaves updatedAt alone',
    file: renew,
    replace: 'SET "lockUntil" =',
    by: 'SET "updatedAt" = now(), "lockUntil" =',
    tests: renewTest,
    only: 'touches nothing else',
  },
];
