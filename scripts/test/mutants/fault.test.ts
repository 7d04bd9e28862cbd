import { expect, test } from 'vitest';
import { applyFault, FaultListError, type Fault } from '../../mutants/fault.ts';

const fault: Fault = {
  name: 'a/fault',
  breaks: 'a behaviour',
  file: 'src/a.ts',
  replace: 'a + 1',
  by: "a - $& $1 $' 1",
  tests: [],
};

test('what it replaces is replaced, and by what it says, to the letter', () => {
  expect(applyFault(fault, 'return a + 1;')).toBe("return a - $& $1 $' 1;");
});

test.each([
  ['return a;', 'a/fault: what it replaces is not in src/a.ts: a + 1'],
  ['a + 1; a + 1;', 'a/fault: what it replaces stands 2 times in src/a.ts: a + 1'],
])('a source that has moved on is told: %s', (text, message) => {
  const apply = () => applyFault(fault, text);
  expect(apply).toThrow(FaultListError);
  expect(apply).toThrow(message);
});
