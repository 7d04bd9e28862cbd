/**
 * One claimed job: parse → run with a signal → outcome. Nothing here writes the outcome: it is decided in core/decide.ts
 * and settled through the fence. The worker and `@fencepost/queue/testing` both run jobs by this one function.
 */
import { classifyThrown } from './core/classify.ts';
import type { Outcome } from './core/decide.ts';
import { storableJson } from './core/json.ts';
import { MAX_RESULT_BYTES } from './core/limits.ts';
import { describeThrown, type Thrown } from './core/thrown.ts';
import type { Expiring } from './deadlines.ts';
import { CompletionRolledBackError, JobTimeoutError } from './errors.ts';
import type { JobHandler } from './job.ts';
import { parsePayload } from './payload.ts';
import { RunContext } from './run-context.ts';
import type { RunEnvironment, StopReason } from './run-environment.ts';
import { StopSignal } from './stop-signal.ts';
import type { ClaimedJob } from './store/claimed-jobs.ts';

export interface Run {
  readonly job: ClaimedJob;
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

/**
 * Whom a run tells what becomes of it. An object and no promises: a worker has some ten thousand runs a second.
 * It is told while nobody else's code is under way but that of `release`, never from within `start`.
 */
export interface RunListener {
  /** Exactly once: when the handler has returned, or before that at its timeout or at `release`. */
  onOutcome(outcome: Outcome): void;
  /** Once, after `onOutcome`: the handler has really returned. Until then its slot is taken. */
  onReturn(): void;
}

/** A run that is started later, or is handed back without. */
export interface PreparedRun extends Run {
  /** To be called once. */
  start(): void;
}

export interface StartedRun extends Run {
  /** Never rejects. */
  readonly outcome: Promise<Outcome>;
  /** When the handler has really returned. Never rejects. */
  readonly returned: Promise<void>;
}

export function prepareRun(
  job: ClaimedJob,
  handler: JobHandler,
  environment: RunEnvironment,
  listener: RunListener,
): PreparedRun {
  return new JobRun(job, handler, environment, listener);
}

export function startRun(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment): StartedRun {
  let onOutcome!: RunListener['onOutcome'];
  let onReturn!: RunListener['onReturn'];
  const outcome = new Promise<Outcome>((resolve) => (onOutcome = resolve));
  const returned = new Promise<void>((resolve) => (onReturn = resolve));
  const run = new JobRun(job, handler, environment, { onOutcome, onReturn });
  run.start();
  return Object.assign(run, { outcome, returned });
}

class JobRun implements PreparedRun, Expiring {
  readonly job: ClaimedJob;
  readonly #handler: JobHandler;
  readonly #environment: RunEnvironment;
  readonly #listener: RunListener;
  /** Made when somebody asks for it: most runs end before that. */
  #stopping: StopSignal | undefined;
  /** While the handler is under way: what waits for its settlement holds no more than that needs. */
  #context: RunContext | undefined;
  #completing = false;
  #ended = false;

  constructor(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment, listener: RunListener) {
    this.job = job;
    this.#handler = handler;
    this.#environment = environment;
    this.#listener = listener;
  }

  get signal(): AbortSignal {
    return this.#stopSignal().signal;
  }

  get stoppedAt(): number | undefined {
    return this.#stopping?.stoppedAt;
  }

  completing(): boolean {
    return this.#context?.completing() ?? this.#completing;
  }

  stop(reason: StopReason): boolean {
    return this.#stopSignal().stop(reason);
  }

  release(): void {
    this.#end({ outcome: 'released' });
  }

  start(): void {
    this.#environment.deadlines.begin(this, this.#handler.contract.timeoutMs);
    void this.#run();
  }

  expire(): void {
    const error = new JobTimeoutError(this.job.type, this.#handler.contract.timeoutMs);
    this.stop(error);
    this.#end({ outcome: 'failed', kind: 'timeout', thrown: describeThrown(error) });
  }

  /** What the listener throws is not the handler's: it is thrown from here, where nobody handles it. */
  async #run(): Promise<void> {
    const context = (this.#context = new RunContext(this.job, this.#environment, this));
    let outcome: Outcome;
    let unseen: Thrown | undefined;
    try {
      const payload = await parsePayload(this.#handler.contract, this.job.payload);
      const result = await this.#handler.run(payload, context);
      outcome = context.completing()
        ? classifyThrown(new CompletionRolledBackError(this.job.id), undefined)
        : { outcome: 'completed', result: storableJson(result, MAX_RESULT_BYTES) };
    } catch (thrown) {
      outcome = classifyThrown(thrown, this.#stopping?.reason);
      if (context.completing()) unseen = describeThrown(thrown);
    }
    this.#completing = context.completing();
    this.#context = undefined;
    this.#environment.deadlines.end(this, this.#handler.contract.timeoutMs);
    this.#end(outcome);
    this.#listener.onReturn();
    // As the row would tell it, and last: a logger may throw, that is given what cannot be read for instance.
    if (unseen) context.logger.warn({ err: unseen }, 'handler threw after ctx.complete');
  }

  #stopSignal(): StopSignal {
    return (this.#stopping ??= new StopSignal(this.#environment.timers));
  }

  /** The first outcome is the run's; a later one is the return of a handler that was no longer waited for. */
  #end(outcome: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#listener.onOutcome(outcome);
  }
}
