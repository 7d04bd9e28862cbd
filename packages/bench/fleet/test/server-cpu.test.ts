import { expect, it } from 'vitest';
import { readServerCpu } from '../server-cpu.ts';

it('has no CPU of a session that is gone', async () => {
  expect(await readServerCpu(2 ** 30)).toBeUndefined();
});
