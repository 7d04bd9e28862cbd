/**
 * What claims and surveys cost together, on a model of the database: a claim that passes dead entries passes them twice,
 * a survey once.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SurveySchedule } from '../src/survey-schedule.ts';

interface Model {
  /** Of a claim that passes no dead entries. */
  readonly claimMs: number;
  /** Of a survey that passes none. */
  readonly lookMs: number;
  /** For all dead entries, once. */
  readonly deadMs: number;
  /** How many claims after each survey pass all of them, because there was a job before the heads. */
  readonly detours: number;
  /** Between two claims. */
  readonly pauseMs: number;
}

/** Claims for so long; what each has cost on average, its share of the surveys included, and how many surveys there were. */
function run(schedule: SurveySchedule, model: Model, forMs: number) {
  const { claimMs, lookMs, deadMs, detours, pauseMs } = model;
  let now = 0;
  let costMs = 0;
  let claims = 0;
  let surveys = 0;
  let detoursLeft = 0;
  while (now < forMs) {
    const looksBack = !schedule.fromHeads;
    const passesAll = looksBack || detoursLeft-- > 0;
    const tookMs = claimMs + (passesAll ? 2 * deadMs : 0);
    now += tookMs + pauseMs;
    costMs += tookMs;
    claims++;
    schedule.claimed(tookMs, looksBack);
    if (schedule.isDue(now)) {
      const surveyMs = 2 * lookMs + deadMs;
      now += surveyMs;
      costMs += surveyMs;
      surveys++;
      detoursLeft = detours;
      if (schedule.fromHeads && detours > 0) schedule.foundStraggler(now);
      else schedule.surveyed(now, surveyMs, deadMs);
    }
  }
  return { average: costMs / claims, surveys, fromHeads: schedule.fromHeads };
}

const model = fc.record({
  claimMs: fc.double({ min: 0.5, max: 20, noNaN: true }),
  lookMs: fc.constant(0.1),
  deadMs: fc.double({ min: 0, max: 2_000, noNaN: true }),
  detours: fc.constantFrom(0, 1, 2),
  pauseMs: fc.constant(0),
});

test('a claim costs at most three times what it would without dead entries, whatever the surveys find', () => {
  fc.assert(
    fc.property(model, (drawn) => {
      const schedule = new SurveySchedule(0);
      // Until it has found out.
      run(schedule, drawn, 5_000);
      const { average } = run(schedule, drawn, 300_000);
      expect(average).toBeLessThan(3.05 * drawn.claimMs);
    }),
  );
});

describe('claims start at the heads', () => {
  const few = { claimMs: 5, lookMs: 0.2, deadMs: 0.5, detours: 0, pauseMs: 0 };
  const many = { ...few, deadMs: 300 };

  test('only where dead entries make them dear, however many types there are', () => {
    expect(run(new SurveySchedule(0), few, 10_000).fromHeads).toBe(false);
    expect(run(new SurveySchedule(0), { ...few, claimMs: 3, lookMs: 50 }, 10_000).fromHeads).toBe(false);
    expect(run(new SurveySchedule(0), many, 10_000).fromHeads).toBe(true);
  });

  test('until the dead entries are gone', () => {
    const schedule = new SurveySchedule(0);
    expect(run(schedule, many, 10_000).fromHeads).toBe(true);
    expect(run(schedule, few, 20_000).fromHeads).toBe(false);
  });

  test('until they are gone, also where a job before the heads ends every survey', () => {
    const schedule = new SurveySchedule(0);
    expect(run(schedule, many, 10_000).fromHeads).toBe(true);
    run(schedule, { ...many, detours: 1 }, 60_000);
    schedule.claimed(many.claimMs + 2 * many.deadMs, !schedule.fromHeads);
    expect(schedule.fromHeads).toBe(true);
    expect(run(schedule, { ...few, deadMs: 0.01, detours: 1 }, 60_000).fromHeads).toBe(false);
  });

  test('not because of what claims cost that went on where others had ended', () => {
    const schedule = new SurveySchedule(0);
    schedule.claimed(12, true);
    for (let claims = 0; claims < 100; claims++) schedule.claimed(1, false);
    // The second's worth of entries that those claims have left: a third of theirs, and not of one from the beginning.
    schedule.surveyed(1_000, 3, 2);
    expect(schedule.fromHeads).toBe(false);
  });

  test('where a survey took long, and only claims that went on were made since the last one', () => {
    const schedule = new SurveySchedule(0);
    schedule.claimed(1, false);
    schedule.surveyed(1_000, 400, 300);
    expect(schedule.fromHeads).toBe(true);
  });

  test('also after one from the beginning that did not come through', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 10_000);
    for (let surveys = 0; surveys < 3; surveys++) schedule.foundStraggler(20_000);
    schedule.gaveUp();
    expect(schedule).toMatchObject({ isProbe: false, fromHeads: true });
  });

  test('until one that started at the beginning has told that they are gone, and no other', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 10_000);
    for (let surveys = 0; surveys < 3; surveys++) schedule.foundStraggler(20_000);
    expect(schedule.isProbe).toBe(true);
    // On its way since before.
    schedule.claimed(many.claimMs, false);
    expect(schedule.isProbe).toBe(true);
    schedule.claimed(many.claimMs + 2 * many.deadMs, true);
    expect(schedule).toMatchObject({ isProbe: false, fromHeads: true });
  });

  test('from the first one on, where a survey before it took long', () => {
    const schedule = new SurveySchedule(0);
    schedule.surveyed(1_000, 400, 300);
    expect(schedule.fromHeads).toBe(true);
    const other = new SurveySchedule(0);
    other.surveyed(1_000, 400, 90);
    expect(other.fromHeads).toBe(false);
  });

  test('and one that passed all dead entries for the sake of a straggler changes nothing', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 10_000);
    const slow = { ...many, detours: 1, pauseMs: 60_000 };
    run(schedule, slow, 3_600_000);
    // Should one claim just have to tell what there is to pass, it is this one.
    schedule.claimed(slow.claimMs + 2 * slow.deadMs, !schedule.fromHeads);
    expect(schedule.fromHeads).toBe(true);
  });
});

describe('surveys', () => {
  const many = { claimMs: 1, lookMs: 0.2, deadMs: 300, detours: 0, pauseMs: 0 };

  test('while claims start at the beginning, there is one a second', () => {
    const { surveys } = run(new SurveySchedule(0), { ...many, deadMs: 0 }, 10_000);
    expect(surveys).toBeGreaterThanOrEqual(8);
    expect(surveys).toBeLessThanOrEqual(10);
  });

  test('while they start at the heads, one for eight times its cost in claims', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 5_000);
    const { surveys } = run(schedule, many, 100_000);
    expect(surveys).toBeGreaterThan(100_000 / (9.5 * 300));
    expect(surveys).toBeLessThan(100_000 / (8.5 * 300));
  });

  test('or for twenty times its cost in time, so that a job before them is found by a worker that seldom claims', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 5_000);
    const { surveys } = run(schedule, { ...many, pauseMs: 500 }, 100_000);
    expect(surveys).toBeGreaterThan(100_000 / (23 * 300));
  });

  test('one that fails is not made again sooner than one that succeeds, and what was known stays known', () => {
    const schedule = new SurveySchedule(0);
    run(schedule, many, 5_000);
    schedule.failed(10_000, 10_000);
    expect(schedule.fromHeads).toBe(true);
    expect(schedule.isDue(10_001)).toBe(false);
    // Twenty times its cost would be longer than a job before the heads is to wait.
    expect(schedule.isDue(39_999)).toBe(false);
    expect(schedule.isDue(40_000)).toBe(true);
  });
});
