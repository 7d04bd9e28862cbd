/** What the soak's judge finds of moves that are none of the protocol, or by somebody who may not make them. */
import { expect, test } from 'vitest';
import type { Move } from '../../soak/judge/evidence.ts';
import * as given from './evidence.ts';
import { CANCELLED, COMPLETED, DOOMED, findingsOf, PLAIN, RECLAIMED } from './evidence.ts';

const altered = (fits: (move: Move) => boolean, changes: Partial<Move>) =>
  findingsOf(({ moves }) => ({
    moves: moves.map((move) => (fits(move) ? { ...move, ...changes } : move)),
  }));
const claimOf = (id: string, number: number) => (move: Move) =>
  move.job === id && move.claims === number && move.stateAfter === 'running';
const endOf = (id: string, number: number) => (move: Move) =>
  move.job === id && move.claims === number && move.stateBefore === 'running';

test.each([
  ['a settlement by another process', endOf(PLAIN, 1), { by: 'one queue' }, 'the claim was that of two'],
  ['a claim before the job is due', claimOf(PLAIN, 1), { early: true }, 'it was not due yet'],
  ['a reclaim before the lease is over', endOf(RECLAIMED, 1), { early: true }, 'its lease was not over'],
  ['a claim that charges nothing', claimOf(PLAIN, 1), { attemptsAfter: 0 }, 'it charged 0 attempts'],
  ['a settlement that charges', endOf(PLAIN, 1), { attemptsAfter: 2 }, 'it charged 1 attempts'],
  ['a reclaim that gives back', endOf(RECLAIMED, 1), { attemptsAfter: 0 }, 'it charged -1 attempts'],
  [
    'a token of another claim',
    claimOf(PLAIN, 1),
    { tokenAfter: given.token(COMPLETED, 1) },
    'the token was used before',
  ],
  [
    'a token that comes back',
    claimOf(DOOMED, 2),
    { tokenAfter: `token 1 of ${DOOMED}` },
    'the token was used before',
  ],
  [
    'a job moved without a trace',
    endOf(DOOMED, 1),
    { stateAfter: 'cancelled' },
    'it had been left cancelled',
  ],
  ['a sweep that completes', endOf(PLAIN, 1), { crashed: true }, 'no move of the protocol'],
  [
    'a cancelled job that is completed',
    (move: Move) => move.job === CANCELLED,
    { stateBefore: 'completed' },
    'no move',
  ],
])('%s is found', (_name, fits, changes, why) => {
  const found = altered(fits, changes);
  expect(found).toContainEqual(
    expect.stringMatching(new RegExp(`^a job is moved as the protocol says: .*${why}`)),
  );
});

test('a claim over a claim is found', () => {
  const found = findingsOf(({ moves, jobs }) => ({
    moves: [
      ...moves,
      given.move(PLAIN, { stateBefore: 'completed', stateAfter: 'pending', claims: 1, attemptsBefore: 1 }),
      given.claim(PLAIN, 2, 'one', { attemptsBefore: 0, attemptsAfter: 1 }),
      given.claim(PLAIN, 3, 'two', { stateBefore: 'running', tokenBefore: `token 2 of ${PLAIN}` }),
    ],
    jobs: jobs.map((job) => (job.id === PLAIN ? { ...job, claims: 2 } : job)),
  }));
  expect(found).toContainEqual(expect.stringContaining('no move of the protocol'));
});

test('a claim whose number was given out before is found', () => {
  const found = altered(claimOf(RECLAIMED, 2), { claims: 1 });
  expect(found).toContainEqual(expect.stringContaining('the claim before was number 1'));
});

test("an operator's retry that does not begin anew is found", () => {
  const retried = {
    stateBefore: 'dead',
    stateAfter: 'pending',
    claims: 3,
    attemptsBefore: 3,
    attemptsAfter: 3,
  };
  const found = findingsOf(({ moves }) => ({ moves: [...moves, given.move(DOOMED, retried)] }));
  expect(found).toEqual([expect.stringContaining('its new life began with 3 attempts')]);
});
