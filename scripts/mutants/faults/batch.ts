/** Bookkeeping is not the work: settlements that the database does not take, and fenced writes that are told. */
import type { Fault } from '../fault.ts';

const batcher = 'apps/worker/src/settle-batcher.ts';
const fenced = 'apps/worker/src/fenced.ts';
const batchTest = ['apps/worker/test/settle-batcher.test.ts'];
const fencedTest = ['apps/worker/test/fenced.test.ts'];

export const batchFaults: readonly Fault[] = [
  {
    name: 'batch/database-error-as-failure',
    breaks: 'a database error while settling is not the job’s failure',
    file: batcher,
    replace: 'this.#putAside([...batch, ...this.#gathering.splice(0)]);',
    by: `for (const { held } of batch)
          this.add(held, { settle: 'retry', error: { kind: 'failed', message: String(error), stack: null } });`,
    tests: batchTest,
    only: 'away for less than the lease',
  },
  {
    name: 'batch/given-up-at-once',
    breaks: 'a settlement is tried again for the length of a lease',
    file: batcher,
    replace: 'now - since > held.leaseMs',
    by: 'now >= since',
    tests: batchTest,
    only: 'away for less than the lease',
  },
  {
    name: 'batch/never-given-up',
    breaks: 'a settlement is left to the sweep after a lease',
    file: batcher,
    replace: 'now - since > held.leaseMs',
    by: 'now < since',
    tests: batchTest,
    only: 'away for longer',
  },
  {
    name: 'batch/own-completion-as-lost',
    breaks: 'a settlement whose answer was lost is not fenced',
    file: batcher,
    replace: 'for (const pending of batch) pending.sent = true;',
    by: '',
    tests: batchTest,
    only: 'answer was lost',
  },
  {
    name: 'batch/one-refusal-for-all',
    breaks: 'one settlement that is refused holds up no other',
    file: batcher,
    replace: 'else if (batch.length > 1)',
    by: 'else if (batch.length > 1_000)',
    tests: batchTest,
    only: 'bad data',
  },
  {
    name: 'batch/locked-row-given-up',
    breaks: 'a row that is locked is not given up',
    file: batcher,
    replace: 'for (const pending of later) pending.since = this.#options.clock.now();',
    by: '',
    tests: batchTest,
    only: 'because its row is locked',
  },
  {
    name: 'batch/one-statement-a-run',
    breaks: 'what ends together is settled together',
    file: batcher,
    replace: 'this.#wholeBatch = wholeBatch(options.held.capacity);',
    by: 'this.#wholeBatch = 1;',
    tests: batchTest,
    only: 'settled together',
  },
  {
    name: 'batch/results-in-one-value',
    breaks: 'a batch is settled whatever its results take once they are stored',
    file: 'packages/queue/src/settle-runs.ts',
    replace: 'if (characters > MOST_RESULT_CHARACTERS) {',
    by: 'if (characters < 0) {',
    tests: ['packages/queue/test/settle.test.ts'],
    only: 'many times as large',
  },
  {
    name: 'batch/own-transaction-as-failure',
    breaks: 'a job that its own transaction completed counts as completed',
    file: batcher,
    replace: 'this.#settled(held, COMPLETED);',
    by: 'this.#settled(held, settlement);',
    tests: batchTest,
    only: 'in its own transaction counts',
  },
  {
    name: 'fenced/not-logged',
    breaks: 'a fenced write is logged',
    file: fenced,
    replace: 'logger.warn(',
    by: 'logger.debug(',
    tests: fencedTest,
  },
  {
    name: 'fenced/not-counted',
    breaks: 'a fenced write is counted',
    file: fenced,
    replace: 'metrics.fenced.inc({ op });',
    by: '',
    tests: fencedTest,
  },
  {
    name: 'fenced/without-what-was-lost',
    breaks: 'a fenced write is logged with what was lost',
    file: fenced,
    replace: 'lost: describeLost(lost)',
    by: 'lost: null',
    tests: fencedTest,
  },
  {
    name: 'fenced/settlement-unseen',
    breaks: 'a fenced settlement is told',
    file: batcher,
    replace: `this.#options.reportFenced({ op: 'settle', job: held.job, lost: settlement });`,
    by: '',
    tests: fencedTest,
  },
];
