import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repositoryRoot, spawnNode, type NodeProcess } from '../src/index.ts';

const script = join(repositoryRoot, 'packages/testing/test/fixtures/talker.ts');

describe('spawnNode', () => {
  test('runs TypeScript, collects lines, delivers signals, reports the exit', async () => {
    const child = spawnNode(script, { args: ['Ada'], env: { SHELL: undefined } });
    const hello = await child.waitForLine((line) => line['msg'] === 'hello');
    expect(hello).toMatchObject({ name: 'Ada', shell: null });
    await child.waitForLine((line) => line['text'] === 'not JSON');
    child.signal('SIGTERM');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.lines.at(-1)).toEqual({ msg: 'draining' });
  });

  test('a wait ends at once, with the output, when the process has ended without the line', async () => {
    const child = spawnNode(script, { env: { FAIL: '1' } });
    const waiting = child.waitForLine((line) => line['msg'] === 'never', { timeout: 60_000 });
    await expect(waiting).rejects.toThrow(/ended with code 3: no line of .* fits .*never[^]*not JSON/);
  });

  test('a wait ends at its timeout', async () => {
    const child = spawnNode(script);
    await child.waitForLine((line) => line['msg'] === 'hello');
    const waiting = child.waitForLine((line) => line['msg'] === 'never', { timeout: 50 });
    await expect(waiting).rejects.toThrow('not within 50 ms');
  });

  describe('a process that its test leaves behind, stopped,', () => {
    let child: NodeProcess;

    test('(starts)', async () => {
      child = spawnNode(script);
      expect(await child.waitForLine((line) => line['msg'] === 'hello')).toBeDefined();
      child.signal('SIGSTOP');
    });

    test('is killed before the next test', async () => {
      expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    });
  });
});
