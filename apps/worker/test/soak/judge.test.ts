/** The soak's judge: silent where everything is as it must be; and what it finds of jobs and their effects. */
import { describe, expect, test } from 'vitest';
import { judge } from '../../soak/judge.ts';
import * as given from './evidence.ts';
import { COMPLETED, DOOMED, findingsOf, flawless, PLAIN, RECLAIMED } from './evidence.ts';

test('nothing is found where everything is as it must be, and it is counted', () => {
  const { violations, counts } = judge(flawless());
  expect(violations).toEqual([]);
  expect(counts).toEqual({
    ...{ committed: 4, rolledBack: 1, unknown: 2, foundCommitted: 1, lost: 0, completions: 2, duplicated: 0 },
    behaviours: { effect: 4, long: 1, doomed: 1, plain: 1 },
    moves: { claim: 7, settle: 6, reclaim: 1, cancel: 1, retry: 0, 'none of the protocol': 0 },
    fenced: { complete: 1, settle: 1 },
    states: { completed: 3, dead: 1, cancelled: 1 },
    started: 3,
    endings: { drained: 2, killed: 1, 'unhandled rejection': 0 },
  });
});

describe('jobs', () => {
  test('one that was committed and is not there is lost', () => {
    const { violations, counts } = judge({ ...flawless(), jobs: flawless().jobs.slice(1) });
    expect(counts.lost).toBe(1);
    expect(violations.map(({ rule }) => rule)).toEqual([
      'no committed job is lost',
      'job and row of the app commit together',
    ]);
  });

  test('one that is there although its transaction rolled back, or that nobody enqueued, is found', () => {
    const found = findingsOf(({ jobs }) => ({
      jobs: [...jobs, ...['job-rolled-back', 'job-of-nobody'].map((id) => given.job(id, { claims: 0 }))],
      orders: new Set([...flawless().orders, 'job-rolled-back']),
    }));
    expect(found).toEqual([
      'a job exists only if its transaction committed: effect job job-rolled-back',
      'a job exists only if its transaction committed: nobody knows job job-of-nobody',
    ]);
  });

  test('one without the row that it was enqueued with is found, and the row without it', () => {
    const found = findingsOf(({ orders }) => ({
      orders: new Set([...orders, 'job-unknown'].filter((id) => id !== RECLAIMED)),
    }));
    expect(found).toEqual([
      `job and row of the app commit together: long job ${RECLAIMED} is there without its row of the app`,
      'job and row of the app commit together: effect job job-unknown is not there beside its row of the app',
    ]);
  });

  test.each([
    ['pending', COMPLETED, { state: 'pending' }, 'nothing stands in its way'],
    ['running', COMPLETED, { state: 'running' }, 'nobody is left to run it'],
    ['dead although it can complete', COMPLETED, { state: 'dead' }, 'expected completed'],
    ['cancelled although nobody asked', PLAIN, { state: 'cancelled' }, 'nobody asked for that'],
    ['completed although it always fails', DOOMED, { state: 'completed' }, 'expected dead'],
    ['dead before its last attempt', DOOMED, { attempts: 2 }, 'given up before its last attempt'],
  ])('one that is left %s is found', (_name, id, changes, why) => {
    const found = findingsOf(({ jobs }) => ({
      jobs: jobs.map((job) => (job.id === id ? { ...job, ...changes } : job)),
    }));
    expect(found).toEqual([
      expect.stringMatching(new RegExp(`^every job comes to its end: .*${id} .*${why}`)),
    ]);
  });

  test('one that says another number of claims than it had is found', () => {
    const found = findingsOf(({ jobs }) => ({
      jobs: jobs.map((job) => (job.id === PLAIN ? { ...job, claims: 2 } : job)),
    }));
    expect(found).toEqual([`claims are counted: job ${PLAIN} says 2, and was claimed 1 times`]);
  });
});

describe('effects', () => {
  const RULE = 'effects in Postgres happen exactly once';

  test('a second one of the same completion is found and counted', () => {
    const { violations, counts } = judge({
      ...flawless(),
      effects: [...flawless().effects, { job: COMPLETED, fence: 1 }],
    });
    expect(counts.duplicated).toBe(1);
    expect(violations).toEqual([{ rule: RULE, detail: `job ${COMPLETED}: two effects of claim 1` }]);
  });

  test('one of a claim that did not complete the job is found', () => {
    const found = findingsOf(({ effects }) => ({ effects: [...effects, { job: RECLAIMED, fence: 1 }] }));
    expect(found).toEqual([`${RULE}: job ${RECLAIMED}: an effect of claim 1, which did not complete it`]);
  });

  test('a completion without one is found', () => {
    const found = findingsOf(({ effects }) => ({ effects: effects.slice(1) }));
    expect(found).toEqual([`${RULE}: job ${COMPLETED}: completed by claim 1 without its effect`]);
  });

  test('a job that completed without having run is found', () => {
    expect(findingsOf(() => ({ outside: [] }))).toEqual([`a completed job has run: job ${PLAIN} never did`]);
  });
});
