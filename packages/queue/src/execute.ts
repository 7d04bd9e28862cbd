/**
 * One claimed job: parse → run with a signal → outcome. Nothing here writes the outcome: it is decided in core/decide.ts
 * and settled through the fence. The worker and `@fencepost/queue/testing` both run jobs by this one function.
 */
import { classifyThrown } from './core/classify.ts';
import type { Outcome } from './core/decide.ts';
import { storableJson } from './core/json.ts';
import { MAX_RESULT_BYTES } from './core/limits.ts';
import { describeThrown } from './core/thrown.ts';
import { CompletionRolledBackError, JobTimeoutError } from './errors.ts';
import type { JobHandler } from './job.ts';
import { parsePayload } from './payload.ts';
import { RunContext } from './run-context.ts';
import type { RunEnvironment, StopReason } from './run-environment.ts';
import { StopSignal } from './stop-signal.ts';
import type { ClaimedJob } from './store/claimed-jobs.ts';

export interface Run {
  readonly job: ClaimedJob;
  /** Settles exactly once and never rejects: when the handler returns, or before that at its timeout or `release`. */
  readonly outcome: Promise<Outcome>;
  readonly signal: AbortSignal;
  /** When its signal was aborted, for whatever reason, by the clock of the process; undefined while it was not. */
  readonly stoppedAt: number | undefined;
  /** True once the handler called `ctx.complete(tx)`. */
  completing(): boolean;
  /** Aborts the run's signal. False if it was aborted before: the first reason stands. */
  stop(reason: StopReason): boolean;
  /** Ends the wait for a handler that does not stop, or that has not been started: the job is handed back. */
  release(): void;
}

/** A run that is started later, or is handed back without. */
export interface PreparedRun extends Run {
  /** To be called once. Resolves when the handler has really returned: until then its slot is taken. Never rejects. */
  start(): Promise<void>;
}

export interface StartedRun extends Run {
  /** When the handler has really returned. Never rejects. */
  readonly returned: Promise<void>;
}

export function startRun(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment): StartedRun {
  const run = new JobRun(job, handler, environment);
  return Object.assign(run, { returned: run.start() });
}

export function prepareRun(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment): PreparedRun {
  return new JobRun(job, handler, environment);
}

class JobRun implements PreparedRun {
  readonly job: ClaimedJob;
  readonly outcome: Promise<Outcome>;
  readonly #handler: JobHandler;
  readonly #environment: RunEnvironment;
  readonly #stopping: StopSignal;
  readonly #context: RunContext;
  /** The first outcome is the run's; a later one is the return of a handler that was no longer waited for. */
  #ends: (outcome: Outcome) => void = () => {};

  constructor(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment) {
    this.job = job;
    this.#handler = handler;
    this.#environment = environment;
    this.#stopping = new StopSignal(environment.timers);
    this.#context = new RunContext(job, environment, this.#stopping);
    this.outcome = new Promise((resolve) => {
      this.#ends = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get stoppedAt(): number | undefined {
    return this.#stopping.stoppedAt;
  }

  completing(): boolean {
    return this.#context.completing();
  }

  stop(reason: StopReason): boolean {
    return this.#stopping.stop(reason);
  }

  release(): void {
    this.#ends({ outcome: 'released' });
  }

  async start(): Promise<void> {
    const { timeoutMs } = this.#handler.contract;
    const cancelTimeout = this.#environment.timers.after(timeoutMs, () => this.#timeOut());
    const context = this.#context;
    try {
      const payload = await parsePayload(this.#handler.contract, this.job.payload);
      const result = await this.#handler.run(payload, context);
      this.#ends(
        context.completing()
          ? classifyThrown(new CompletionRolledBackError(this.job.id), undefined)
          : { outcome: 'completed', result: storableJson(result, MAX_RESULT_BYTES) },
      );
    } catch (thrown) {
      this.#ends(classifyThrown(thrown, this.#stopping.reason));
      // As the row would tell it: a logger that is given what cannot be read throws.
      if (context.completing())
        context.logger.warn({ err: describeThrown(thrown) }, 'handler threw after ctx.complete');
    } finally {
      cancelTimeout();
    }
  }

  #timeOut(): void {
    const error = new JobTimeoutError(this.job.type, this.#handler.contract.timeoutMs);
    this.#stopping.stop(error);
    this.#ends({ outcome: 'failed', kind: 'timeout', thrown: describeThrown(error) });
  }
}
