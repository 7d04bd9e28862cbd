/** The list against the source as it is: a change that a fault relied on shows here, and not only when mutants are run. */
import { repositoryRoot } from '@fencepost/testing';
import { expect, test } from 'vitest';
import { checkList } from '../../mutants/check-list.ts';
import type { Fault } from '../../mutants/fault.ts';
import { allFaults } from '../../mutants/faults/index.ts';

const good: Fault = {
  name: 'a/fault',
  breaks: 'a behaviour',
  file: 'scripts/mutants/fault.ts',
  replace: 'if (found !== 1)',
  by: 'if (found === 1)',
  tests: ['scripts/test/mutants/fault.test.ts'],
};

test('every fault can be applied', async () => {
  await expect(checkList(allFaults, repositoryRoot)).resolves.toBeUndefined();
});

test('a list that is behind is refused, with a line for each fault', async () => {
  const list = [
    good,
    good,
    { ...good, name: 'no/file', file: 'scripts/mutants/none.ts' },
    { ...good, name: 'no/test', tests: ['scripts/test/mutants/none.test.ts'] },
    { ...good, name: 'no/place', replace: 'if (found === 7)' },
  ];
  const lines = await checkList(list, repositoryRoot).catch((error: Error) => error.message.split('\n'));
  expect(lines).toEqual([
    'a/fault: two faults have this name',
    'no/file: there is no file scripts/mutants/none.ts',
    'no/test: there is no test file scripts/test/mutants/none.test.ts',
    'no/place: what it replaces is not in scripts/mutants/fault.ts: if (found === 7)',
  ]);
});
