/** The rule on the source that the linter cannot express: it has no word for a constructor called without arguments. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../src/index.ts';

const core = join(repositoryRoot, 'packages/queue/src/core');
const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

test('core/ has no clock', () => {
  expect(files.length).toBeGreaterThan(0);
  expect(
    files.filter((file) => /\bnew Date(?!\s*\(\s*[^\s)])/.test(readFileSync(join(core, file), 'utf8'))),
  ).toEqual([]);
});
