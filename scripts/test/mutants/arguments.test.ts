import { expect, test } from 'vitest';
import { readArguments } from '../../mutants/arguments.ts';
import { FaultListError, type Fault } from '../../mutants/fault.ts';

const all = ['claim/one', 'claim/two', 'sweep/one'].map((name): Fault => ({
  name,
  breaks: '',
  file: '',
  replace: '',
  by: '',
  tests: [],
}));
const namesOf = (args: string[]) => readArguments(args, all).faults.map(({ name }) => name);

test('without arguments it is every fault', () => {
  expect(namesOf([])).toEqual(['claim/one', 'claim/two', 'sweep/one']);
});

test('names and a pattern choose', () => {
  expect(namesOf(['sweep/one', 'claim/one'])).toEqual(['claim/one', 'sweep/one']);
  expect(namesOf(['--only', '^claim/'])).toEqual(['claim/one', 'claim/two']);
});

test('there are no more copies than faults', () => {
  expect(readArguments(['--copies', '8'], all).copies).toBe(3);
  expect(readArguments(['--copies', '1'], all).copies).toBe(1);
});

test.each([
  [['claim/three'], 'no fault is called claim/three'],
  [['--only', 'drain'], 'no fault fits /drain/'],
  [['--copies', '0'], '--copies'],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args, all)).toThrow(FaultListError);
  expect(() => readArguments(args, all)).toThrow(message);
});
