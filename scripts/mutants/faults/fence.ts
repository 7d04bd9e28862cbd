/** The fence: which row, which token, which state; and what happens to a write that it turns away. */
import type { Fault } from '../fault.ts';

const fence = 'packages/queue/src/store/fence.ts';
const hold = 'packages/queue/src/store/hold.ts';
const context = 'packages/queue/src/run-context.ts';
const fenceTest = ['packages/queue/test/fence.test.ts'];
const stateTest = ['packages/queue/test/fence-state.test.ts'];
const transactionTest = ['packages/queue/test/complete-in-transaction.test.ts'];

export const fenceFaults: readonly Fault[] = [
  {
    name: 'fence/undefined-token',
    breaks: 'a write without a token is refused before the call',
    file: fence,
    replace: 'if (!isUuid(value)) throw new MissingTokenError(field, value);',
    by: '',
    tests: fenceTest,
    only: 'refused before the call',
  },
  {
    name: 'fence/repeats-in-one-statement',
    breaks: 'a row held under two tokens is settled under each',
    file: fence,
    replace: 'batches.find((candidate) => !candidate.has(row.id))',
    by: 'batches[0]',
    tests: fenceTest,
    only: 'claimed a row twice',
  },
  {
    name: 'fence/hold-without-token',
    breaks: 'ctx.complete and ctx.assertClaim need the token',
    file: hold,
    replace: 'where: fencedWhere(fence)',
    by: `where: { id: fence.id, state: 'running' } as never`,
    tests: fenceTest,
    only: 'by completing or holding',
  },
  {
    name: 'fence/hold-without-state',
    breaks: 'ctx.complete and ctx.assertClaim need the state',
    file: hold,
    replace: 'where: fencedWhere(fence)',
    by: 'where: { id: fence.id, claimToken: fence.claimToken } as never',
    tests: stateTest,
  },
  {
    name: 'fence/locked-as-lost',
    breaks: 'a row that is merely locked is not lost',
    file: 'packages/queue/src/store/unsettled.ts',
    replace: '(claimToken === tokenSeen ? locked : lost)',
    by: 'lost',
    tests: ['packages/queue/test/locks.test.ts'],
    only: 'locked by a settlement',
  },
  {
    name: 'fence/lost-as-locked',
    breaks: 'a claim that is gone is lost, and not tried again',
    file: 'packages/queue/src/store/unsettled.ts',
    replace: '(claimToken === tokenSeen ? locked : lost)',
    by: 'locked',
    tests: fenceTest,
    only: 'by settling',
  },
  {
    name: 'fence/complete-without-hold',
    breaks: 'ctx.complete waits for a row that is locked for a moment',
    file: context,
    replace: `if (!(await holdClaim(tx, job))) this.#loseClaim('complete', result);`,
    by: '',
    tests: transactionTest,
    only: 'locked for a moment',
  },
  {
    name: 'fence/assert-nothing',
    breaks: 'ctx.assertClaim throws where the claim is gone',
    file: context,
    replace: `if (!(await holdClaim(tx, this.#claimed))) this.#loseClaim('assert_claim', undefined);`,
    by: '',
    tests: transactionTest,
    only: 'lost before',
  },
  {
    name: 'fence/loss-does-not-stop',
    breaks: 'a fenced write aborts the signal of its run',
    file: context,
    replace: 'this.#stopping.stop(error);\n    throw error;',
    by: 'throw error;',
    tests: transactionTest,
    only: 'lost before',
  },
  {
    name: 'fence/loss-not-told',
    breaks: 'a fenced write of a run is told to its worker',
    file: context,
    replace: 'this.#environment.onFenced({ op, job: this.#claimed, lost });',
    by: '',
    tests: transactionTest,
    only: 'lost before',
  },
  {
    name: 'fence/confirm-any-claim',
    breaks: 'a completion by another claim is not taken for one’s own',
    file: 'packages/queue/src/store/confirm.ts',
    replace: `AND "claims" = (\${numbers}::jsonb ->> "id"::text)::int`,
    by: `AND \${numbers}::jsonb IS NOT NULL`,
    tests: transactionTest,
    only: 'of a later claim',
  },
  {
    name: 'fence/confirm-nothing',
    breaks: 'a completion whose answer was lost is found to be one’s own',
    file: 'packages/queue/src/settle-runs.ts',
    replace: 'batch.filter(({ id }) => found.has(id))',
    by: '[]',
    tests: transactionTest,
    only: 'answer was lost',
  },
];
