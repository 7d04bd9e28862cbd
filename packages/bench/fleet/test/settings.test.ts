import { expect, it } from 'vitest';
import { readSettings } from '../settings.ts';

it('reads fleets, the server and the table', () => {
  const argv = ['--workers', '1,20', '--set', 'commit_delay=1000', '--set', 'a=b=c', '--table', 'type:8'];

  expect(readSettings(argv)).toMatchObject({
    workers: [1, 20],
    server: { commit_delay: '1000', a: 'b=c' },
    table: { by: 'type', partitions: 8 },
    pooler: undefined,
  });
});

it.each([
  [['--workers', '1,x'], '--workers: expected a whole number from 1 to 1000, found "x"'],
  [['--rate', '0'], '--rate: expected a number above 0, found "0"'],
  [['--set', 'fsync'], '--set: expected name=value, found "fsync"'],
  [['--table', 'id:2'], '--table: expected plain or type:8, found "id:2"'],
  [['--wrong'], 'unknown arguments: found "--wrong"'],
])('refuses %j', (argv, message) => {
  expect(() => readSettings(argv)).toThrow(message);
});
