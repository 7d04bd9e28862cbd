/**
 * One claimed job: parse → run with a signal → outcome. Nothing here writes the outcome: it is decided in core/decide.ts
 * and settled through the fence. The worker and `@fencepost/queue/testing` both run jobs by this one function.
 */
import { makeContext } from './make-context.ts';
import { classifyThrown } from './core/classify.ts';
import type { Outcome } from './core/decide.ts';
import { storableJson } from './core/json.ts';
import { MAX_RESULT_BYTES } from './core/limits.ts';
import { describeThrown } from './core/thrown.ts';
import { CompletionRolledBackError, JobTimeoutError } from './errors.ts';
import type { JobHandler } from './job.ts';
import { parsePayload } from './payload.ts';
import type { RunEnvironment, StopReason } from './run-environment.ts';
import type { ClaimedJob } from './store/claim.ts';

export interface Run {
  readonly job: ClaimedJob;
  readonly signal: AbortSignal;
  /** Settles exactly once and never rejects: when the handler returns, or before that at its timeout or `release`. */
  readonly outcome: Promise<Outcome>;
  /** When the handler has really returned: until then its slot is taken. Never rejects. */
  readonly returned: Promise<void>;
  /** True once the handler called `ctx.complete(tx)`. */
  completing(): boolean;
  /** Aborts the run's signal; the first reason stands. */
  stop(reason: StopReason): void;
  /** Ends the wait for a handler that does not stop: the job is handed back. */
  release(): void;
}

export function startRun(job: ClaimedJob, handler: JobHandler, environment: RunEnvironment): Run {
  const { timeoutMs } = handler.contract;
  const controller = new AbortController();
  const { signal } = controller;
  const ending = firstOutcome();
  const stop = (reason: StopReason) => controller.abort(reason);
  const context = makeContext(job, environment, signal, stop);

  const cancelTimeout = environment.timers.after(timeoutMs, () => {
    const error = new JobTimeoutError(job.type, timeoutMs);
    stop(error);
    ending.is({ outcome: 'failed', kind: 'timeout', thrown: describeThrown(error) });
  });

  const run = async () => {
    try {
      const payload = await parsePayload(handler.contract, job.payload);
      const result = await handler.run(payload, context);
      ending.is(
        context.completing()
          ? classifyThrown(new CompletionRolledBackError(job.id), undefined)
          : { outcome: 'completed', result: storableJson(result, MAX_RESULT_BYTES) },
      );
    } catch (thrown) {
      ending.is(classifyThrown(thrown, signal.reason));
      // As the row would tell it: a logger that is given what cannot be read throws.
      if (context.completing())
        context.logger.warn({ err: describeThrown(thrown) }, 'handler threw after ctx.complete');
    } finally {
      cancelTimeout();
    }
  };

  return {
    job,
    signal,
    outcome: ending.promise,
    returned: run(),
    completing: context.completing,
    stop,
    release: () => ending.is({ outcome: 'released' }),
  };
}

/** A promise of the first outcome that is named; later ones are the return of a handler that was no longer waited for. */
function firstOutcome() {
  let is: (outcome: Outcome) => void = () => {};
  const promise = new Promise<Outcome>((resolve) => {
    is = resolve;
  });
  return { promise, is };
}
