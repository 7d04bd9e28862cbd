import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Failures, InjectedFailure } from '../adapter/failures.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-failures-'));
afterAll(() => rmSync(folder, { recursive: true }));

function planned(plan: object): Failures {
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  return new Failures(file);
}

it('marks exactly the shares of the plan among any ten thousand jobs', () => {
  const failures = planned({ transient_pct: 30, poison_pct: 1, transient_failures: 2 });
  const marks = Array.from({ length: 10_000 }, (_, seq) => failures.markFor(seq + 77_777));

  expect(marks.filter(({ fail }) => fail === 'poison')).toHaveLength(100);
  const transient = marks.filter(({ fail }) => fail === 'transient');
  expect(transient).toHaveLength(3_000);
  expect(transient[0]).toEqual({ fail: 'transient', fail_attempts: 2 });
  expect(marks.filter((mark) => Object.keys(mark).length === 0)).toHaveLength(6_900);
});

it('marks nothing without a plan', () => {
  expect(new Failures(undefined).markFor(0)).toEqual({});
  expect(planned({}).markFor(0)).toEqual({});
});

it('lets a transient failure pass after its attempts, and a poisoned job never', () => {
  const failures = new Failures(undefined);
  const transient = { fail: 'transient', fail_attempts: 2 } as const;

  expect(() => failures.strike(transient, 2, 5)).toThrow(InjectedFailure);
  failures.strike(transient, 3, 5);
  failures.completed(transient);
  expect(() => failures.strike({ fail: 'poison' }, 4, 5)).toThrow(InjectedFailure);
  expect(() => failures.strike({ fail: 'poison' }, 5, 5)).toThrow(InjectedFailure);
  failures.strike({}, 1, 5);
  failures.completed({});

  const { injected, retried, exhausted } = failures;
  expect({ injected, retried, exhausted }).toEqual({ injected: 3, retried: 1, exhausted: 1 });
});
