/** Jobs are claimed ahead of free slots only where slots get through them faster than claims are answered. */
import { expect, test } from 'vitest';
import { ClaimAhead } from '../src/claim-ahead.ts';

function after(slots: number, runsMs: readonly number[], claimsMs: readonly number[]): ClaimAhead {
  const ahead = new ClaimAhead(slots);
  for (const ms of runsMs) ahead.ran(ms);
  for (const ms of claimsMs) ahead.claimed(ms);
  return ahead;
}

test('nothing is claimed ahead before a run and a claim have ended', () => {
  expect(after(10, [], []).jobs).toBe(0);
  expect(after(10, [1], []).jobs).toBe(0);
  expect(after(10, [], [1]).jobs).toBe(0);
});

test('twice as many as the slots get through while a claim is under way', () => {
  expect(after(50, [20], [30]).jobs).toBe(150);
  expect(after(4, [1], [20]).jobs).toBe(160);
});

test('as many as they get through in 25 ms where claims are answered sooner', () => {
  expect(after(50, [10], [6]).jobs).toBe(125);
  expect(after(4, [1], [6]).jobs).toBe(100);
});

test('nothing where jobs take long', () => {
  expect(after(10, [2_000], [6]).jobs).toBe(0);
  expect(after(100, [2_501], [6]).jobs).toBe(0);
});

test('never more than there are slots, or than 250, however short the jobs and long the claims', () => {
  expect(after(1_000, [0], [400]).jobs).toBe(1_000);
  expect(after(5, [0], [400]).jobs).toBe(250);
});

test('it goes by the mean of the last fifty: one long job among short ones counts at once', () => {
  const short = Array.from({ length: 200 }, () => 1);
  expect(after(4, short, [5]).jobs).toBe(100);
  expect(after(4, [...short, 1_000], [5]).jobs).toBe(4);
});

test('nothing once jobs have waited in vain, until a run has ended', () => {
  const ahead = after(10, [1], [5]);
  ahead.waitedInVain();
  expect(ahead.jobs).toBe(0);
  ahead.ran(10);
  expect(ahead.jobs).toBe(25);
});
