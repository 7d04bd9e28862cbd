import { expect, it } from 'vitest';
import { statementNames } from '../src/statement-names.ts';

it('gives a text the same name every time, in every process', () => {
  const name = statementNames(2);
  expect(name({ sql: 'SELECT 1' })).toBe('fencepost_e004ebd5b5532a4b85984a62f8ad48a8');
  expect(name({ sql: 'SELECT 1' })).toBe(statementNames(1)({ sql: 'SELECT 1' }));
  expect(name({ sql: 'SELECT 2' })).not.toBe(name({ sql: 'SELECT 1' }));
});

it('gives no more names than the limit', () => {
  const name = statementNames(2);
  const names = ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 2', 'SELECT 4'].map((sql) => name({ sql }));
  expect(names.map((given) => given !== '')).toEqual([true, true, false, true, false]);
  expect(statementNames(0)({ sql: 'SELECT 1' })).toBe('');
});
