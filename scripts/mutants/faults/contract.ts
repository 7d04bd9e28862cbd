/** The defaults of a contract, and those of the row for whoever inserts by hand: they have to agree. */
import type { Fault } from '../fault.ts';

const limits = 'packages/queue/src/core/limits.ts';
const contractTest = ['packages/queue/test/define-job.test.ts'];

export const contractFaults: readonly Fault[] = [
  defaultOf('lease', 'default: 30_000', 'default: 31_000'),
  defaultOf('timeout', 'default: 600_000', 'default: 601_000'),
  defaultOf('retry-base', 'default: 2_000', 'default: 3_000'),
  defaultOf('retry-max', 'default: 6 * 3_600_000', 'default: 7 * 3_600_000'),
  defaultOf('max-attempts', 'DEFAULT_MAX_ATTEMPTS = 25', 'DEFAULT_MAX_ATTEMPTS = 24'),
  defaultOf('max-crashes', 'DEFAULT_MAX_CRASHES = 3', 'DEFAULT_MAX_CRASHES = 4'),
  rowDefault(
    'max-attempts',
    '"maxAttempts" INTEGER NOT NULL DEFAULT 25',
    '"maxAttempts" INTEGER NOT NULL DEFAULT 24',
  ),
  rowDefault(
    'max-crashes',
    '"maxCrashes" INTEGER NOT NULL DEFAULT 3',
    '"maxCrashes" INTEGER NOT NULL DEFAULT 4',
  ),
];

function defaultOf(what: string, replace: string, by: string): Fault {
  return {
    name: `contract/default-${what}`,
    breaks: `the default of ${what} is the documented one`,
    file: limits,
    replace,
    by,
    tests: contractTest,
    only: 'has a default',
  };
}

function rowDefault(what: string, replace: string, by: string): Fault {
  return {
    name: `table/default-${what}`,
    breaks: `the row’s default of ${what} is the contract’s`,
    file: 'db/prisma/migrations/20261130000000_job_queue/migration.sql',
    replace,
    by,
    tests: ['packages/queue/test/inserted-by-hand.test.ts'],
    only: 'limits of a contract',
  };
}
