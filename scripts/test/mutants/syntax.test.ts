import { expect, test } from 'vitest';
import { syntaxError } from '../../mutants/syntax.ts';

test.each([
  ['src/a.ts', 'const a: number = 1;', undefined],
  ['src/a.ts', 'const a = "no number" as unknown as number;', undefined],
  ['src/a.ts', 'if (', 'Expression expected.'],
  ['db/a.sql', 'SELECT 1', undefined],
])('%s: %s', (file, text, error) => {
  expect(syntaxError(file, text)).toBe(error);
});
