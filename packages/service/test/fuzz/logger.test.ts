/** Whatever is logged as an error: a line, and whoever logs it goes on. */
import { fileURLToPath } from 'node:url';
import { spawnNode } from '@fencepost/testing';
import { expect, test } from 'vitest';

test('errors that cannot be read are lines of the log, secrets are not', { timeout: 60_000 }, async () => {
  const child = spawnNode(fileURLToPath(new URL('./fixtures/log-anything.ts', import.meta.url)));
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.lines.map((line) => line['msg'])).toEqual([
    ...Array.from({ length: 10 }, () => 'logged'),
    'done',
  ]);
  expect(JSON.stringify(child.lines)).toContain('a getter beside it');
  expect(JSON.stringify(child.lines)).not.toContain('hunter2');
});
