import { spawnNode } from '@fencepost/testing';
import { expect, test } from 'vitest';

test('what is said last, before an exit, is said', async () => {
  const speaker = spawnNode(new URL('./fixtures/log-and-exit.ts', import.meta.url).pathname);
  expect(await speaker.exited).toEqual({ code: 0, signal: null });
  expect(speaker.lines.map(({ msg }) => msg)).toEqual(['last but one', 'last']);
});
