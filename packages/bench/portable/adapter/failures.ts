/**
 * Failures on purpose: while the harness has a plan in its file, the producer marks some of the jobs, and their handler
 * fails the attempts that the mark says. Retries, backoff and the end in `dead` are then the library's own.
 */
import { ControlFile, parseObject } from './control-file.ts';
import type { BenchPayload } from './contracts.ts';

/** The contract lets the file be read once a second. */
const READ_EVERY_MS = 1_000;
const BUCKETS = 10_000;
/** Has no divisor in common with the number of buckets: marked jobs are spread evenly, not in runs. */
const STRIDE = 7_919;

type Mark = Pick<BenchPayload, 'fail' | 'fail_attempts'>;

export class InjectedFailure extends Error {
  readonly code = 'INJECTED_FAILURE';
  override readonly name = 'InjectedFailure';
}

export class Failures {
  /** Attempts that failed on purpose. */
  injected = 0;
  /** Transient ones that completed in the end. */
  retried = 0;
  /** Poisoned ones whose last attempt has failed. */
  exhausted = 0;
  readonly #plan: ControlFile<Record<string, unknown>>;

  constructor(path: string | undefined) {
    this.#plan = new ControlFile(path, { initial: {}, everyMs: READ_EVERY_MS, parse: parseObject });
  }

  /** What a job of this number carries: nothing, unless a plan picks it. */
  markFor(seq: number): Mark {
    const plan = this.#plan.read();
    const bucket = ((seq % BUCKETS) * STRIDE) % BUCKETS;
    const poisonBelow = Math.round(numberOf(plan['poison_pct'], 0) * 100);
    const transientBelow = poisonBelow + Math.round(numberOf(plan['transient_pct'], 0) * 100);
    if (bucket < poisonBelow) return { fail: 'poison' };
    if (bucket >= transientBelow) return {};
    return { fail: 'transient', fail_attempts: numberOf(plan['transient_failures'], 1) };
  }

  /** @throws InjectedFailure if this attempt is one that is to fail. */
  strike({ fail, fail_attempts = 1 }: Mark, attempt: number, maxAttempts: number): void {
    if (fail === undefined || (fail === 'transient' && attempt > fail_attempts)) return;
    this.injected += 1;
    if (fail === 'poison' && attempt >= maxAttempts) this.exhausted += 1;
    throw new InjectedFailure(`${fail}, attempt ${attempt}`);
  }

  completed({ fail }: Mark): void {
    if (fail === 'transient') this.retried += 1;
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
