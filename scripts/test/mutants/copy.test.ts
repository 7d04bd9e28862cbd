import { existsSync } from 'node:fs';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@fencepost/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCopies, type Copies } from '../../mutants/copy.ts';

let copies: Copies;
let root: string;
let other: string;
beforeAll(async () => {
  copies = await makeCopies(2);
  [root = '', other = ''] = copies.roots;
});
afterAll(() => copies.remove());

test.each([
  ['apps/worker', 'queue'],
  ['apps/worker', 'db'],
  ['packages/queue', 'testing'],
  ['.', 'testing'],
])('what %s imports of @fencepost/%s is in the same copy', async (from, name) => {
  const found = await realpath(join(root, from, 'node_modules/@fencepost', name));
  expect(found.startsWith(`${root}/`)).toBe(true);
});

test('what comes from npm is there, and is not copied', async () => {
  const vitest = await realpath(join(root, 'node_modules/vitest'));
  expect(vitest.startsWith(`${await realpath(repositoryRoot)}/node_modules/.pnpm/`)).toBe(true);
});

test('a change in one copy is in no other, nor in the repository', async () => {
  const file = 'packages/queue/src/core/limits.ts';
  const before = await readFile(join(repositoryRoot, file), 'utf8');
  await writeFile(join(root, file), '');
  expect(await readFile(join(other, file), 'utf8')).toBe(before);
  expect(await readFile(join(repositoryRoot, file), 'utf8')).toBe(before);
});

test('nothing is left of them', async () => {
  const gone = await makeCopies(1);
  await gone.remove();
  expect(existsSync(gone.roots[0] ?? '')).toBe(false);
});
