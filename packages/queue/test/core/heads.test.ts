/** Heads move on with what was claimed, and never past a job that the claim may not have seen. */
import { expect, test } from 'vitest';
import { afterClaim, anyBefore, FIRST_ID, HEAD_SLACK_MS, type Heads } from '../../src/core/heads.ts';

const CLAIMED_AT = '2026-11-30T12:00:00.123456+00:00';
const LATEST = {
  runAt: new Date(Date.parse(CLAIMED_AT) - HEAD_SLACK_MS).toISOString(),
  id: FIRST_ID,
};
const start = (n: number) => ({ runAt: `2026-11-30T0${n}:00:00+00:00`, id: FIRST_ID });
const four = [start(0), start(1), start(2), start(3)];
const heads: Heads = new Map([
  ['one', four],
  ['two', four],
]);

const job = (type: string, priority: number, runAt: string, id = 'id') => ({
  ...{ type, priority, runAt, id, claimedAt: CLAIMED_AT },
});

test('to the last job that was claimed, to the microsecond', () => {
  const claimed = [
    job('one', 2, '2026-11-30T11:00:00.000001+00:00', 'a'),
    job('one', 2, '2026-11-30T11:00:00.000002+00:00', 'b'),
  ];
  expect(afterClaim(heads, claimed).get('one')?.[2]).toEqual({
    runAt: '2026-11-30T11:00:00.000002+00:00',
    id: 'b',
  });
});

test('the better levels to the time of the claim, since they were looked through; the lesser ones not at all', () => {
  const after = afterClaim(heads, [job('one', 0, start(8).runAt), job('one', 1, start(9).runAt, 'last')]);
  expect(after.get('one')).toEqual([LATEST, { ...start(9), id: 'last' }, four[2], four[3]]);
});

test('not those of a type of which nothing was claimed: its jobs may not have had their turn', () => {
  const after = afterClaim(heads, [job('one', 3, start(9).runAt)]);
  expect(after.get('two')).toBe(four);
  expect(afterClaim(heads, [])).toEqual(heads);
});

test('never so close to the claim that a transaction in flight would commit behind them', () => {
  const after = afterClaim(heads, [job('one', 2, '2026-11-30T12:00:00.1+00:00')]);
  expect(after.get('one')).toEqual([LATEST, LATEST, LATEST, four[3]]);
});

test('a type that nobody has looked for stays unknown', () => {
  expect(afterClaim(heads, [job('three', 2, start(9).runAt)])).toEqual(heads);
});

test('a job from before our calendar', () => {
  const before = '0044-03-15T00:00:00+00:00 BC';
  expect(afterClaim(heads, [job('one', 2, before)]).get('one')?.[2]).toEqual({ runAt: before, id: 'id' });
});

test('a head that was found before the known one of its type and level is told, and no other', () => {
  const found = (level: number, at: { runAt: string; id: string }): Heads =>
    new Map([['one', four.map((head, n) => (n === level ? at : head))]]);
  expect(anyBefore(heads, heads)).toBe(false);
  expect(anyBefore(found(2, start(1)), heads)).toBe(true);
  expect(anyBefore(found(2, start(3)), heads)).toBe(false);
  expect(anyBefore(heads, new Map())).toBe(false);
});
